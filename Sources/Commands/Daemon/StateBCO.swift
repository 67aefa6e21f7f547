import JSON
import QuickConnect

/// `state`: what the device does now, and for whom: `{"playing", "recording", "vibrating", "watched", "handlers",
/// "droppedAnswers"}`, lists but for the last, which counts answers that fitted no question.
struct StateBCO: WaitingBCO {
    private let devices: [any Device]
    private let events: EventHub
    private let handlers: HandlerRegistry
    private static let many = 256

    init(_ devices: [any Device], _ events: EventHub, _ handlers: HandlerRegistry) {
        self.devices = devices
        self.events = events
        self.handlers = handlers
    }

    func handle(_ call: borrowing Call) throws(CommandError) -> Awaited<BusinessOutcome> {
        // Of thousands of handlers it is told by a task, beside the event loop.
        guard handlers.count > Self.many else { return .now(.result(state)) }
        return .wait { () async throws(CommandError) in .result(state) }
    }

    private var state: JSONValue {
        var state: JSONObject = ["playing": [], "recording": [], "vibrating": []]
        for device in devices {
            for (name, value) in device.state() { state[name] = Self.joined(state[name], value) }
        }
        state["watched"] = .array(
            events.subscriberCounts.sorted { $0.event < $1.event }.map {
                ["event": .string($0.event), "subscribers": .integer(Int64($0.count))]
            }
        )
        state["handlers"] = .array(
            handlers.holders.sorted { $0.name < $1.name }.map { ["name": .string($0.name), "for": $0.caller.json] }
        )
        state["droppedAnswers"] = .integer(Int64(handlers.droppedAnswerCount))
        return .object(state)
    }

    /// Lists of the same name are one list: files and system sounds both play.
    private static func joined(_ one: JSONValue?, _ other: JSONValue) -> JSONValue {
        guard let list = one?.arrayValue, let more = other.arrayValue else { return other }
        return .array(list + more)
    }
}
