public import JSON

/// Why a call failed: a code from a fixed list, a sentence for people, and details for programs.
///
/// An error renders its own reply (``payload(command:)``): the JSON object
/// `{"cmd", "code", "message", …details}` of an error reply in either wire form.
public struct CommandError: Error, Sendable, Equatable {
    /// The fixed list of codes. Clients switch over it, so a new code needs a new protocol version.
    public enum Code: String, Sendable, CaseIterable {
        /// The line or message does not have the protocol's form.
        case badRequest
        /// No mapping has this command.
        case unknownCommand
        /// The caller may not run this command.
        case denied
        /// The parameters do not fit, or a validation command object refused.
        case invalid
        /// What the parameters name does not exist.
        case notFound
        /// Not possible now: the device is missing, unplugged or not answering.
        case unavailable
        /// Not possible on this device at all.
        case unsupported
        /// Somebody else is using it.
        case busy
        /// Not done within the call's timeout.
        case timeout
        /// Ended by `cancel`, by `stop`, or because the daemon stops.
        case cancelled
        /// Longer or deeper than the limits allow.
        case tooLarge
        /// More calls or connections than the limits allow.
        case overloaded
        /// A script or handler failed.
        case scriptFailed
        /// A bug in the daemon; the log has the details.
        case `internal`
    }

    /// The command that errors have in the URL form. No command and no event may have this name.
    public static let replyCommand = "error"

    /// What kind of error it is.
    public var code: Code
    /// One sentence for people: what failed, why, and, if that helps, how to fix it.
    public var message: String
    /// Further members of the reply, such as `fields`, `nearest` or `rule`.
    public var details: JSONObject

    /// An error with a sentence for people, and details for programs.
    public init(_ code: Code, _ message: String, details: JSONObject = [:]) {
        self.code = code
        self.message = message
        self.details = details
    }

    /// The error as the JSON object that replies carry.
    /// - Parameter command: the command of the call that failed; left out if it could not be read.
    public func payload(command: String?) -> JSONValue {
        var object: JSONObject = [:]
        if let command { object["cmd"] = .string(command) }
        object["code"] = .string(code.rawValue)
        object["message"] = .string(message)
        for (name, value) in details where object[name] == nil { object[name] = value }
        return .object(object)
    }
}
