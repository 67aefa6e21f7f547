import JSON
import QuickConnect

/// `post [name, data]`: sends an event of the caller's own to the subscribers of that name.
struct PostBCO: BCO {
    private let events: EventHub

    init(_ events: EventHub) { self.events = events }

    func handle(_ call: borrowing Call) throws(CommandError) -> BusinessOutcome {
        guard let name = call.string(0), !name.isEmpty else {
            throw .invalid("/0", expected: "name, a string that is not empty")
        }
        guard !EventHub.isDeviceEvent(name), name != CommandError.replyCommand else {
            throw CommandError(.denied, "'\(name)' is a name of the device's own; choose another for an event of yours")
        }
        events.publish(Event(name, call.argument(1), kind: .message))
        return .result(.null)
    }
}
