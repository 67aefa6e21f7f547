import JSON
import QuickConnect

/// `reload`: reads the mappings again. Returns null, or `{"warnings": [text]}` if something is odd but harmless. If
/// there are mistakes, it throws `invalid` with all of them, and the old table stays.
struct ReloadBCO: WaitingBCO {
    private let reload: @Sendable () async throws(CommandError) -> [String]

    /// - Parameter reload: returns the warnings.
    init(_ reload: @escaping @Sendable () async throws(CommandError) -> [String]) { self.reload = reload }

    func handle(_ call: borrowing Call) throws(CommandError) -> Awaited<BusinessOutcome> {
        .wait { () async throws(CommandError) in
            let warnings = try await reload()
            return .result(warnings.isEmpty ? .null : ["warnings": .array(warnings.map(JSONValue.string))])
        }
    }
}
