import JSON
import QuickConnect

/// `subscribe [name, …, {options}]`: sends those events to this connection, in the form of this call.
struct SubscribeBCO: CommandObject {
    let phase = Phase.business
    let touchesDevice = true

    func handle(_ call: borrowing Call) throws(CommandError) -> Outcome {
        let session = call.session
        try session.frontController.events.subscribe(
            session,
            to: call.arguments.compactMap(\.stringValue),
            options: call.arguments.last?.objectValue ?? [:],
            form: call.request.form
        )
        return .result(.null)
    }
}
