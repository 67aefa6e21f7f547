import JSON
import QuickConnect

/// `state`: what the device does now, and for whom: `{"playing", "recording", "vibrating", "watched", "handlers",
/// "values", "droppedAnswers"}`: lists, the values that the caller may ask for, by name, and a count of answers that fitted
/// no question.
struct StateBCO: WaitingBCO {
    private let devices: [any Device]
    private let router: Router
    private static let many = 256

    init(_ devices: [any Device], _ router: Router) {
        self.devices = devices
        self.router = router
    }

    func handle(_ call: borrowing Call) throws(CommandError) -> Awaited<BusinessOutcome> {
        let (caller, rule) = (call.caller, call.connection.socketRule)
        // Of thousands of handlers or values it is told by a task, beside the event loop.
        guard router.handlers.count + router.values.count > Self.many else {
            return .now(.result(state(for: caller, rule)))
        }
        return .wait { () async throws(CommandError) in .result(state(for: caller, rule)) }
    }

    private func state(for caller: Caller, _ rule: SocketRule?) -> JSONValue {
        var state: JSONObject = ["playing": [], "recording": [], "vibrating": []]
        for device in devices {
            for (name, value) in device.state() { state[name] = Self.joined(state[name], value) }
        }
        state["watched"] = .array(
            router.events.subscriberCounts.sorted { $0.event < $1.event }.map {
                ["event": .string($0.event), "subscribers": .integer(Int64($0.count))]
            }
        )
        state["handlers"] = .array(
            router.handlers.holders.sorted { $0.name < $1.name }.map {
                ["name": .string($0.name), "for": $0.caller.json]
            }
        )
        let values = router.values.all.filter {
            router.frontController.refusal(of: $0.name, for: caller, by: rule) == nil
        }
        state["values"] = .object(JSONObject(values.map { ($0.name, $0.value) }))
        state["droppedAnswers"] = .integer(Int64(router.handlers.droppedAnswerCount))
        return .object(state)
    }

    /// Lists of the same name are one list: files and system sounds both play.
    private static func joined(_ one: JSONValue?, _ other: JSONValue) -> JSONValue {
        guard let list = one?.arrayValue, let more = other.arrayValue else { return other }
        return .array(list + more)
    }
}
