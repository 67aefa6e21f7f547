import JSON
import QuickConnect

/// `removeHandler [name]`: takes a handler of this connection back.
struct RemoveHandlerBCO: CommandObject {
    let phase = Phase.business

    func handle(_ call: borrowing Call) throws(CommandError) -> Outcome {
        let session = call.session
        try session.frontController.handlers.remove(call[0]?.stringValue ?? "", of: session)
        return .result(.null)
    }
}
