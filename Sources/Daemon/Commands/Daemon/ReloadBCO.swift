import JSON
import QuickConnect

/// What a reload has found.
public struct Reloaded: Sendable {
    /// What is odd but harmless.
    public var warnings: [String] = []
    /// The keys of the settings that have changed since the start, and are taken up by a restart only.
    public var restart: [String] = []

    public init() {}
}

/// `reload`: reads the mappings again, and takes up what it can of the settings. Returns null, or `{"warnings": [text]}` if something is odd
/// but harmless, and `{"restart": [key]}` for settings that a restart takes up. If there are mistakes, it throws `invalid`
/// with all of them, and the old table stays.
struct ReloadBCO: WaitingBCO {
    private let reload: @Sendable () async throws(CommandError) -> Reloaded

    init(_ reload: @escaping @Sendable () async throws(CommandError) -> Reloaded) { self.reload = reload }

    func handle(_ call: borrowing Call) throws(CommandError) -> Awaited<BusinessOutcome> {
        .wait { () async throws(CommandError) in
            let found = try await reload()
            var answer = JSONObject()
            if !found.warnings.isEmpty { answer["warnings"] = .array(found.warnings.map(JSONValue.string)) }
            if !found.restart.isEmpty { answer["restart"] = .array(found.restart.map(JSONValue.string)) }
            return .result(answer.isEmpty ? .null : .object(answer))
        }
    }
}
