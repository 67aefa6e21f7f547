import JSON
import QuickConnect

/// `unsubscribe [name, …]`: stops sending these events; without a name, all events.
struct UnsubscribeBCO: BCO {
    private let events: EventHub
    /// The most names in one call.
    private static let mostNames = 1024

    init(_ events: EventHub) { self.events = events }

    func handle(_ call: borrowing Call) throws(CommandError) -> BusinessOutcome {
        guard call.argumentCount <= Self.mostNames else {
            let expected = "at most \(Self.mostNames) names; without any, all subscriptions end"
            throw .invalid("", expected: expected, got: "\(call.argumentCount)")
        }
        var names: [String] = []
        for index in 0..<call.argumentCount { if let name = call.string(index) { names.append(name) } }
        if names.isEmpty {
            events.unsubscribeAll(call.connection)
        } else {
            events.unsubscribe(call.connection, from: names)
        }
        return .result(.null)
    }
}
