import JSON
import QuickConnect

/// `explain [command]`: its stack, as `{"command", "help", "answers", "parameters", "validation", "business", "view",
/// "error", "allow", "verbs", "answeredBy", "timeout" s, "location", "lastError"}`. A rule is `{"rule", "location"}`,
/// and `null` if there is none; `verbs` has one for each verb; `gateways` names those on whose lists it is by its own rules,
/// if there are such. A value also has `"value"`, its declaration, and
/// `"set"`. The last error is `{"code", "secondsAgo", "count"}`; root, the daemon's user and the user whose call failed
/// also get its `"message"`, which may hold what was sent, and its `"caller"`.
struct ExplainBCO: BCO {
    private let controller: FrontController
    private let permissions: Permissions

    init(_ controller: FrontController, _ permissions: Permissions) {
        self.controller = controller
        self.permissions = permissions
    }

    func handle(_ call: borrowing Call) throws(CommandError) -> BusinessOutcome {
        let name = call.string(0) ?? ""

        let entry = try controller.entry(of: name)
        var answer: JSONObject = [
            "command": .string(name),
            "help": entry.help.map(JSONValue.string) ?? .null,
            "answers": entry.answers.map(JSONValue.string) ?? .null,
            "parameters": entry.parameters?.json ?? .null,
        ]
        for phase in Phase.allCases {
            answer[phase.rawValue] = .array(entry.steps(of: phase).map { .string($0.name) })
        }
        answer["allow"] = describe(entry.rule)
        answer["verbs"] = .object(JSONObject(entry.verbs.all.map { ($0.verb, describe($0.rule)) }))
        answer["answeredBy"] = describe(entry.answeredBy)
        if let value = entry.value {
            answer["value"] = value.json
            answer["set"] = describe(entry.setRule)
        }
        let gateways = entry.gateways.map(\.text).sorted()
        if !gateways.isEmpty { answer["gateways"] = .array(gateways.map(JSONValue.string)) }
        answer["timeout"] = entry.timeout.map { JSONValue.plainNumber($0 / .seconds(1)) } ?? .null
        answer["location"] = entry.location.map { .string($0.description) } ?? .null
        answer["lastError"] = controller.lastFailure(of: name).map { describe($0, to: call.caller) } ?? .null
        return .result(.object(answer))
    }

    private func describe(_ rule: AllowRule?) -> JSONValue {
        guard let rule else { return .null }
        return ["rule": .string(rule.words), "location": .string(rule.location.description)]
    }

    private func describe(_ failure: FailureLog.Failure, to caller: Caller) -> JSONValue {
        let age = (ContinuousClock.now - failure.time) / .seconds(1)
        var answer: JSONObject = [
            "code": .string(failure.error.code.rawValue), "secondsAgo": .integer(Int64(age)),
            "count": .integer(Int64(failure.count)),
        ]
        if permissions.maySee(callsOf: failure.caller, caller) {
            answer["message"] = .string(failure.error.message)
            answer["caller"] = failure.caller.json
        }
        return .object(answer)
    }
}
