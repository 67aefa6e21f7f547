import Calendar
import JSON
import QuickConnect
internal import Synchronization

/// `commands`: the table, as an object `{NAME: {"help", "parameters", "result"?, "effect", "allow"?, "value"?,
/// "homeAssistant"?}}`, handlers that are commands of their own as `{NAME: {"help", "parameters": null, "effect",
/// "handler": true}}`. On a socket with its own list, only the commands on it.
///
/// If there are many commands, a task builds it, off the event loop.
struct CommandsBCO: WaitingBCO {
    let controller: FrontController
    private let last = LastAnswer()
    private static let many = 500

    /// The last answer: of a hundred clients nearly all get the same, and making it takes longer than all else in a call.
    private final class LastAnswer: Sendable {
        struct State: Sendable {
            var table: MappingTable
            var names: [ByteName]
            var text: JSONText
        }

        let state = Mutex<State?>(nil)
    }

    func handle(_ call: borrowing Call) throws(CommandError) -> Awaited<BusinessOutcome> {
        let rule = call.connection.socketRule
        guard controller.currentTable.count > Self.many else { return .now(.result(.text(answer(rule)), under: nil)) }
        return .wait { () async throws(CommandError) in .result(.text(answer(rule)), under: nil) }
    }

    private func answer(_ rule: SocketRule?) -> JSONText {
        let table = controller.currentTable
        let entries = table.entries.filter { rule?.lists($0.command, for: $0.gateways) ?? true }
        let handlers = controller.handlerCommands.filter { rule?.lists($0, for: nil) ?? true }
        let names = (entries.map(\.command) + handlers).map { ByteName($0) }
        if let last = last.state.withLock({ $0 }), last.table === table, last.names == names { return last.text }
        let bytes = SharedBytes(value(entries, handlers).text)
        let text = JSONText(checked: bytes, 0..<bytes.count)
        last.state.withLock { $0 = .init(table: table, names: names, text: text) }
        return text
    }

    private func value(_ entries: [MappingEntry], _ handlers: [String]) -> JSONValue {
        var all = entries.map { (name: $0.command, value: JSONValue.object(describe($0))) }
        all += handlers.map { name in
            let effect = JSONValue.string(CommandEffect.destroys.rawValue)
            return (
                name,
                ["help": "A handler that a client registered.", "parameters": nil, "effect": effect, "handler": true]
            )
        }
        return .object(JSONObject(all.sorted { $0.name < $1.name }.map { ($0.name, $0.value) }))
    }

    private func describe(_ entry: MappingEntry) -> JSONObject {
        JSONObject(present: [
            "help": entry.help.map(JSONValue.string) ?? .null, "parameters": entry.parameters?.json ?? .null,
            "result": entry.result.map { .object($0.jsonWithoutName) }, "effect": .string(entry.effect.rawValue),
            "value": entry.value?.json, "event": entry.event?.json, "schedule": entry.schedule?.json,
            "homeAssistant": entry.homeAssistant, "allow": entry.rule.map { .string($0.words) },
            "gateways": entry.gatewayNames,
        ])
    }
}

extension MappingEntry {
    /// On whose lists it is by its own rules; nil if there are none.
    fileprivate var gatewayNames: JSONValue? {
        gateways.isEmpty ? nil : .array(gateways.map(\.text).sorted().map(JSONValue.string))
    }
}

/// `explain [command]`: its stack, as `{"command", "help", "answers", "result", "effect", "parameters", "validation",
/// "business", "view", "error", "allow", "verbs", "answeredBy", "timeout" s, "location", "locations", "lastError"}`. A rule is `{"rule", "location"}`,
/// and `null` if there is none; `verbs` has one for each verb; `gateways` names those on whose lists it is by its own rules,
/// if there are such, and `unlisted` says of each whose users its rules let call it, but not the list, why they cannot. A
/// value also has `"value"`, its declaration, and `"set"`. The last error is `{"code", "secondsAgo", "count"}`; root, the daemon's user and the user whose call failed
/// also get its `"message"`, which may hold what was sent, and its `"caller"`.
struct ExplainBCO: BCO {
    let controller: FrontController
    let permissions: Permissions
    /// The sockets of gateways.
    let gateways: [SocketRule]

    func handle(_ call: borrowing Call) throws(CommandError) -> BusinessOutcome {
        let name = call.string(0) ?? ""

        let entry = try controller.entry(of: name)
        var answer: JSONObject = [
            "command": .string(name),
            "help": entry.help.map(JSONValue.string) ?? .null,
            "answers": entry.answers.map(JSONValue.string) ?? .null,
            "result": entry.result.map { .object($0.jsonWithoutName) } ?? .null,
            "effect": .string(entry.effect.rawValue),
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
        if let event = entry.event {
            answer["event"] = event.json
            answer["post"] = describe(entry.postRule)
        }
        if let schedule = entry.schedule {
            answer["schedule"] = schedule.json
            answer["set"] = describe(entry.setRule)
        }
        answer["gateways"] = entry.gatewayNames
        answer["unlisted"] = unlisted(entry)
        answer["timeout"] = entry.timeout.map { JSONValue.shortest($0 / .seconds(1)) } ?? .null
        answer["location"] = entry.location.map { .string($0.description) } ?? .null
        answer["locations"] = .array(entry.places.map { .string($0.description) })
        answer["lastError"] = controller.lastFailure(of: name).map { describe($0, to: call.caller) } ?? .null
        return .result(.object(answer))
    }

    /// `{GATEWAY: why}`; nil if there is none.
    private func unlisted(_ entry: MappingEntry) -> JSONValue? {
        let refusals = gateways.compactMap { socket -> (String, JSONValue)? in
            guard let gateway = socket.gateway?.name else { return nil }
            let isNamed = entry.rules.contains { $0.gateways.contains(ByteName(gateway)) }
            guard isNamed || (entry.isOwn && entry.rule == nil) else { return nil }
            return socket.refusal(of: entry).map { (gateway, .string($0.message)) }
        }
        return refusals.isEmpty ? nil : .object(JSONObject(refusals))
    }

    private func describe(_ rule: AllowRule?) -> JSONValue {
        guard let rule else { return .null }
        return ["rule": .string(rule.words), "location": .string(rule.location.description)]
    }

    private func describe(_ failure: FailureLog.Failure, to caller: Caller) -> JSONValue {
        let age = (ContinuousClock.now - failure.time) / .seconds(1)
        let isOpen = permissions.maySee(callsOf: failure.caller, caller)
        return JSONValue(present: [
            "code": .string(failure.error.code.rawValue), "secondsAgo": .integer(Int64(age)),
            "count": .integer(Int64(failure.count)), "message": isOpen ? .string(failure.error.message) : nil,
            "place": isOpen ? failure.error.place.map(JSONValue.string) : nil,
            "caller": isOpen ? .some(failure.caller.json) : nil,
        ])
    }
}

extension ParameterList {
    /// The declared parameters as `commands` and `explain` show them.
    var json: JSONValue { .array(parameters.map { .object($0.json) }) }
}

extension Parameter {
    fileprivate var json: JSONObject {
        JSONObject(present: [
            "name": .string(name), "type": .string(kind.rawValue), "optional": isOptional ? true : nil,
            "default": defaultValue, "minimum": minimum.map(JSONValue.shortest),
            "maximum": maximum.map(JSONValue.shortest), "maxLength": maxLength.map { .integer(Int64($0)) },
            "oneOf": oneOf.map(JSONValue.array), "repeat": repeats ? true : nil,
            "members": members.isEmpty ? nil : .object(JSONObject(members.map { ($0.name, $0.json) })),
            "items": items.map { .object($0.jsonWithoutName) }, "help": help.map(JSONValue.string),
        ])
    }

    /// The same of a member, an item or a result: its name stands elsewhere, if it has one.
    fileprivate var jsonWithoutName: JSONObject {
        var object = json
        object["name"] = nil
        return object
    }
}

extension Parameter.Member {
    /// Its declaration, or the text that describes it.
    fileprivate var json: JSONValue { declared.map { .object($0.jsonWithoutName) } ?? .string(help) }
}

extension ValueDeclaration {
    /// The declaration of a value: `{"type", "minimum", "maximum", "maxLength", "oneOf", "default", "clamp", "keep"}`;
    /// with a unit `unit`; of what is bound to hardware `bound`, `hardware`, and `input` or `lease`.
    var json: JSONValue {
        var object = parameter.jsonWithoutName
        object["default"] = initial
        object["clamp"] = .bool(clamps)
        object["keep"] = .bool(keeps)
        object["unit"] = unit.map { .string($0) }
        object["bound"] = binding.map { .string($0.key) }
        object["hardware"] = binding.map { .string($0.part) }
        if isInput { object["input"] = true }
        if hasLease { object["lease"] = "connection" }
        return .object(object)
    }
}

extension EventDeclaration {
    /// The declaration of an event: `{"type", "minimum", "maximum", "maxLength", "oneOf", "last"}`; of one that comes from an input
    /// device `bound` and `device`.
    var json: JSONValue {
        var object = parameter.jsonWithoutName
        object["last"] = .bool(keepsLast)
        object["bound"] = binding.map { .string($0.key) }
        object["device"] = binding.map { .string($0.device) }
        return .object(object)
    }
}

extension ScheduleDeclaration {
    /// The declaration of a schedule: `{"at" or "every", "days", "dates", "missed", "call"}`, the last three only if they are
    /// given.
    var json: JSONValue {
        let isEvery = if case .every = rule.moment { true } else { false }
        return JSONValue(present: [
            isEvery ? "every" : "at": .string("\(rule.moment)"),
            "days": rule.days.map { .array(Weekday.allCases.filter($0.contains).map { .string($0.rawValue) }) },
            "dates": rule.dates.map { .array($0.sorted().map { .integer(Int64($0)) }) },
            "missed": .string(runsMissed ? "run" : "skip"),
            "call": call.map { .array([.string($0.command.value)] + $0.parameters) },
        ])
    }
}
