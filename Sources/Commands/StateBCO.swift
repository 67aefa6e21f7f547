import JSON
import QuickConnect

/// `state`: what the device does now, and for whom: `{"playing", "recording", "vibrating", "watched", "handlers",
/// "droppedAnswers"}`, lists but for the last, which counts answers that fitted no question.
struct StateBCO: CommandObject {
    let phase = Phase.business
    private let devices: [any Device]

    init(_ devices: [any Device]) { self.devices = devices }

    func handle(_ call: borrowing Call) throws(CommandError) -> Outcome {
        let controller = call.session.frontController
        var state: JSONObject = ["playing": [], "recording": [], "vibrating": []]
        for device in devices {
            for (name, value) in device.state() { state[name] = Self.joined(state[name], value) }
        }
        state["watched"] = .array(
            controller.events.subscriberCounts.sorted { $0.key < $1.key }.map {
                ["event": .string($0.key), "subscribers": .integer(Int64($0.value))]
            }
        )
        state["handlers"] = .array(
            controller.handlers.holders.sorted { $0.key < $1.key }.map {
                ["name": .string($0.key), "for": $0.value.json]
            }
        )
        state["droppedAnswers"] = .integer(Int64(controller.droppedAnswerCount))
        return .result(.object(state))
    }

    /// Lists of the same name are one list: files and system sounds both play.
    private static func joined(_ one: JSONValue?, _ other: JSONValue) -> JSONValue {
        guard let list = one?.arrayValue, let more = other.arrayValue else { return other }
        return .array(list + more)
    }
}
