import JSON
import QuickConnect

/// `cancel [id]`: ends this connection's waiting calls with that id; each gets `cancelled`. Returns `null` even if no
/// such call is waiting, because its reply may just have been sent.
struct CancelBCO: BCO {
    func handle(_ call: borrowing Call) throws(CommandError) -> BusinessOutcome {
        // An id is text, but `msg=7` is read as the number 7. A value longer than any id is not read.
        if case .text(let text) = call.argument(0), text.count > 8 * Limits.idBytes { return .result(.null) }
        guard let id = call.string(0) ?? call.integer(0).map({ "\($0)" }) else {
            throw .invalid("/0", expected: "id, a string", got: call.gist(0))
        }
        call.connection.interruptCalls(id: id, with: CommandError(.cancelled, "the caller cancelled the call"))
        return .result(.null)
    }
}
