import JSON
import QuickConnect

/// `cancel [id]`: ends this connection's waiting calls with that id; each gets `cancelled`. Answers `null`, also
/// where no such call waits any more, for its reply may just have gone out.
struct CancelBCO: CommandObject {
    let phase = Phase.business

    func handle(_ call: borrowing Call) throws(CommandError) -> Outcome {
        // An id is text, but `msg=7` is read as the number 7.
        guard let id = call[0]?.stringValue ?? call[0]?.integerValue.map({ "\($0)" }) else {
            throw .invalid("/0", expected: "id, a string")
        }
        call.session.interruptCalls(id: id, with: CommandError(.cancelled, "the caller cancelled the call"))
        return .result(.null)
    }
}
