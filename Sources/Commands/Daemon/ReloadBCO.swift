import JSON
import QuickConnect

/// `reload`: reads the mappings anew. On any mistake it is `invalid` with all of them, and the old table stays.
struct ReloadBCO: WaitingBCO {
    private let reload: @Sendable () async throws(CommandError) -> Void

    init(_ reload: @escaping @Sendable () async throws(CommandError) -> Void) { self.reload = reload }

    func handle(_ call: borrowing Call) throws(CommandError) -> Awaited<BusinessOutcome> {
        .wait { () async throws(CommandError) in
            try await reload()
            return .result(.null)
        }
    }
}
