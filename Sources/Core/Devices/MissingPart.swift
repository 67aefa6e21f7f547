internal import JSON

extension CommandError {
    /// Hardware that settings name is not there; says where to look.
    package static func missingPart(_ message: String, _ code: Code = .unavailable) -> CommandError {
        CommandError(code, message, details: ["inspect": "quickconnect hardware"])
    }

    /// Whether the hardware is not there, as opposed to one that fails.
    package var isMissingPart: Bool { code == .unavailable && details["inspect"] != nil }
}
