import JSON
import QuickConnect

/// The sensor values that wait for a slow client: the newest of each, and how many it missed.
struct SensorBacklog {
    private var newest: [String: (event: Event, form: WireForm)] = [:]
    private var missed: [String: Int] = [:]

    var isEmpty: Bool { newest.isEmpty }

    mutating func add(_ event: Event, form: WireForm) {
        if newest.updateValue((event, form), forKey: event.name) != nil { missed[event.name, default: 0] += 1 }
    }

    /// What to send now that the client reads again, and, where it wants to know (`droppedForm`), what it missed.
    mutating func take(droppedForm: WireForm?) -> [OutgoingMessage] {
        var messages = newest.values.map { OutgoingMessage.event($0.event, form: $0.form) }
        if let droppedForm {
            messages += missed.map { name, count in
                let value: JSONValue = ["event": .string(name), "count": .integer(Int64(count))]
                return .event(Event(EventHub.dropped, value, kind: .message), form: droppedForm)
            }
        }
        self = SensorBacklog()
        return messages
    }
}
