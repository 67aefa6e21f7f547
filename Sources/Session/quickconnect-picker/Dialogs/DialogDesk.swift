import JSON
import QuickConnect
import QuickConnectClient
import Synchronization

/// Shows one dialog at a time.
final class DialogDesk: Sendable {
    private let shower: any DialogShower
    /// The command whose dialog is open.
    private let open = Mutex<String?>(nil)

    init(_ shower: any DialogShower) { self.shower = shower }

    /// Throws ``HandlerCall/Failure``: `busy` if a dialog is open already.
    func ask(_ dialog: Dialog, for command: String) async throws -> [JSONValue] {
        let other = open.withLock { open -> String? in
            defer { open = open ?? command }
            return open
        }
        if let other {
            throw HandlerCall.Failure(.busy, "another dialog is open on this display, of the command \(other)")
        }
        defer { open.withLock { $0 = nil } }
        return try await shower.show(dialog)
    }

    func displayIsGone() async -> String? { await shower.displayIsGone() }
}
