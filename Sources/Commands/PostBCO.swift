import JSON
import QuickConnect

/// `post [name, data]`: sends an event of the caller's own to the subscribers of that name.
struct PostBCO: CommandObject {
    let phase = Phase.business

    func handle(_ call: borrowing Call) throws(CommandError) -> Outcome {
        guard let name = call[0]?.stringValue, !name.isEmpty else {
            throw .invalid("/0", expected: "name, a string that is not empty")
        }
        guard !EventHub.deviceEvents.contains(name), name != Reply.errorCommand else {
            throw CommandError(.denied, "'\(name)' is a name of the device's own; choose another for an event of yours")
        }
        let event = Event(name, call.arguments.count > 1 ? call.arguments[1] : .null, kind: .message)
        call.session.frontController.events.publish(event)
        return .result(.null)
    }
}
