import JSON
import QuickConnect

/// The sensor values that wait for a slow client: the newest of each sensor, and how many were dropped.
struct SensorBacklog {
    private var newest: [ByteName: (event: Event, form: WireForm)] = [:]
    private var missed: [ByteName: Int] = [:]

    var isEmpty: Bool { newest.isEmpty }

    mutating func add(_ event: Event, form: WireForm) {
        let name = ByteName(event.name)
        if newest.updateValue((event, form), forKey: name) != nil { missed[name, default: 0] += 1 }
    }

    /// The events to send now that the client reads again, and, if it wants to know (`droppedForm`), how many it
    /// missed.
    mutating func take(droppedForm: WireForm?) -> [(event: Event, form: WireForm)] {
        var events = Array(newest.values)
        if let droppedForm {
            events += missed.map { name, count in
                let value: JSONValue = ["event": .string(name.text), "count": .integer(Int64(count))]
                return (Event(DaemonEvents.dropped, value, kind: .message), droppedForm)
            }
        }
        self = SensorBacklog()
        return events
    }
}
