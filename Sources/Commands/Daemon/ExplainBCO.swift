import JSON
import QuickConnect

/// `explain [command]`: its stack, as `{"command", "help", "parameters", "validation", "business", "view",
/// "error", "allow", "timeout" s, "location", "lastError"}`.
struct ExplainBCO: BCO {
    private let controller: FrontController

    init(_ controller: FrontController) { self.controller = controller }

    func handle(_ call: borrowing Call) throws(CommandError) -> BusinessOutcome {
        let name = call.string(0) ?? ""

        let entry = try controller.entry(of: name)
        var answer: JSONObject = [
            "command": .string(name),
            "help": entry.help.map(JSONValue.string) ?? .null,
            "parameters": entry.parameters?.json ?? .null,
        ]
        for phase in Phase.allCases {
            answer[phase.rawValue] = .array(entry.steps(of: phase).map { .string($0.name) })
        }
        answer["allow"] =
            entry.rule.map {
                ["rule": .string($0.words), "location": .string($0.location.description)]
            } ?? .null
        answer["timeout"] = entry.timeout.map { JSONValue.plainNumber($0 / .seconds(1)) } ?? .null
        answer["location"] = entry.location.map { .string($0.description) } ?? .null
        answer["lastError"] = controller.lastFailure(of: name).map(describe) ?? .null
        return .result(.object(answer))
    }

    private func describe(_ failure: FailureLog.Failure) -> JSONValue {
        let age = (ContinuousClock.now - failure.time) / .seconds(1)
        return [
            "code": .string(failure.error.code.rawValue), "message": .string(failure.error.message),
            "secondsAgo": .integer(Int64(age)), "caller": failure.caller.json,
        ]
    }
}
