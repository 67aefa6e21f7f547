import JSON
import QuickConnect

/// `post [name, data]`: sends an event of the caller's own to the subscribers of that name.
struct PostBCO: BCO {
    private let events: EventHub
    private let values: ValueStore

    init(_ events: EventHub, _ values: ValueStore) {
        self.events = events
        self.values = values
    }

    func handle(_ call: borrowing Call) throws(CommandError) -> BusinessOutcome {
        guard let name = call.string(0), !name.isEmpty else {
            throw .invalid("/0", expected: "name, a string that is not empty")
        }
        guard !DaemonEvents.isOne(name), name != CommandError.replyCommand, !values.contains(name) else {
            throw CommandError(.denied, "'\(name)' is a name of the device's own; choose another for an event of yours")
        }
        events.publish(Event(name, call.argument(1), kind: .message))
        return .result(.null)
    }
}
