import JSON
import QuickConnect

/// `unsubscribe [name, …]`: sends those events no more; without a name, none at all.
struct UnsubscribeBCO: CommandObject {
    let phase = Phase.business

    func handle(_ call: borrowing Call) throws(CommandError) -> Outcome {
        let names = call.arguments.compactMap(\.stringValue)
        let session = call.session
        if names.isEmpty {
            session.frontController.events.unsubscribeAll(session)
        } else {
            session.frontController.events.unsubscribe(session, from: names)
        }
        return .result(.null)
    }
}
