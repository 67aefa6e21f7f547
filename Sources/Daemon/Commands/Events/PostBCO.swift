import JSON
import QuickConnect

/// `post [name, data]`: sends one of the caller's events to the subscribers of that name.
struct PostBCO: BCO {
    private let events: EventHub
    private let values: ValueStore

    init(_ events: EventHub, _ values: ValueStore) {
        self.events = events
        self.values = values
    }

    func handle(_ call: borrowing Call) throws(CommandError) -> BusinessOutcome {
        switch call.withString(0, { verdict($0) }) {
        case .free: break
        case .empty, nil: throw .invalid("/0", expected: "name, a string that is not empty", got: call.gist(0))
        case .taken:
            let name = call.string(0) ?? ""
            throw CommandError(.denied, "'\(name)' is an event of the device itself; choose another name for yours")
        }
        events.publish(Event(call.string(0) ?? "", call.argument(1), kind: .message))
        return .result(.null)
    }

    private enum Verdict {
        case free, taken, empty
    }

    /// Whether a name may be posted.
    private func verdict(_ name: UnsafeBufferPointer<UInt8>) -> Verdict {
        if name.isEmpty { return .empty }
        return DaemonEvents.isOne(name) || values.contains(name) ? .taken : .free
    }
}
