import JSON
import Logging
import QuickConnect

/// `state`: what the device does now, and for whom: `{"playing", "recording", "vibrating", "watched", "handlers",
/// "connections", "values", "ages"?, "schedules"?, "events", "memory", "droppedAnswers"}`: lists, the values and the schedules that the
/// caller may read, by name, how many seconds ago hardware was read, what is kept for whom, and the number of answers that
/// belonged to no call. A list has at most 100 members (connections:
/// 256), so that it takes little time; `more` then has how many others there are, by its name.
struct StateBCO: BCO {
    let devices: [any Device]
    let router: Router
    /// What is known of a schedule's runs.
    let schedule: @Sendable (String) -> JSONValue?
    private static let maxMembers = 100
    private static let maxGroups = 256

    func handle(_ call: borrowing Call) throws(CommandError) -> BusinessOutcome {
        .result(state(for: call.caller, call.connection.socketRule))
    }

    private func state(for caller: Caller, _ rule: SocketRule?) -> JSONValue {
        var state: JSONObject = ["playing": [], "recording": [], "vibrating": []]
        for device in devices {
            for (name, value) in device.state() { state[name] = Self.joined(state[name], value) }
        }
        var more: JSONObject = [:]
        func show(_ name: String, _ members: [JSONValue], of total: Int) {
            state[name] = .array(members)
            if total > members.count { more[name] = .integer(Int64(total - members.count)) }
        }
        let (watched, watchedCount) = router.events.subscriberCounts(max: Self.maxMembers)
        show("watched", watched.sorted { $0.event < $1.event }.map(Self.watched), of: watchedCount)
        let events = router.knownEvents(max: Self.maxMembers, for: caller, by: rule)
        show("events", events.map(Self.event), of: events.count + max(watchedCount - Self.maxMembers, 0))
        let handlers = router.handlers.holders(max: Self.maxMembers).sorted { $0.name < $1.name }
        show("handlers", handlers.map(Self.handler), of: router.handlers.count)
        let groups = router.connections.groups
        show("connections", Self.largest(groups).map(Self.connections), of: groups.count)
        state["memory"] = Self.memory(router.memory.use)
        let values = router.values.all.filter {
            router.frontController.refusal(of: $0.name, for: caller, by: rule) == nil
        }
        state["values"] = .object(JSONObject(values.map { ($0.name, $0.value) }))
        let ages = router.values.ages
        let known = values.compactMap { value in
            ages[value.name].map { (value.name, JSONValue.number(($0 / .milliseconds(1)).rounded() / 1000)) }
        }
        if !known.isEmpty { state["ages"] = .object(JSONObject(known)) }
        let schedules = router.frontController.currentTable.entries.filter { entry in
            entry.kind == .schedule && router.frontController.refusal(of: entry.command, for: caller, by: rule) == nil
        }
        if !schedules.isEmpty {
            let shown = schedules.map(\.command).sorted().prefix(Self.maxMembers)
            state["schedules"] = .object(JSONObject(shown.map { ($0, schedule($0) ?? .null) }))
            if schedules.count > shown.count { more["schedules"] = .integer(Int64(schedules.count - shown.count)) }
        }
        state["droppedAnswers"] = .integer(Int64(router.handlers.droppedAnswerCount))
        if !more.isEmpty { state["more"] = .object(more) }
        return .object(state)
    }

    /// `{"event", "subscribers"}`.
    private static func watched(_ event: String, _ count: Int) -> JSONValue {
        ["event": .string(event), "subscribers": .integer(Int64(count))]
    }

    /// `{"limit", "used", "peers": [{"for", "bytes"}]}`, in bytes: what the daemon keeps for callers, and for which of them
    /// the most. `for` is `uid 1000` or `web:ann`.
    private static func memory(_ use: PeerMemory.Use) -> JSONValue {
        [
            "limit": .integer(Int64(use.limit)), "used": .integer(Int64(use.used)),
            "peers": .array(use.largest.map { ["for": .string($0.peer.text), "bytes": .integer(Int64($0.used))] }),
        ]
    }

    /// `{"event", "code", "lack"}`, the latter two only if the caller cannot subscribe to it now.
    private static func event(_ name: String, _ lack: CommandError?) -> JSONValue {
        let (code, message) = (lack?.code.rawValue, lack?.message)
        return JSONValue(present: [
            "event": .string(name), "code": code.map(JSONValue.string), "lack": message.map(JSONValue.string),
        ])
    }

    /// `{"name", "for": {"uid", "pid", "user"}, "program"}`, or `{"gateway", "user"}` in `for`.
    private static func handler(_ name: String, _ client: any CallConnection) -> JSONValue {
        let (caller, program) = (client.caller, client.process?.name)
        let owner = joined(caller.json, caller.identity)
        return ["name": .string(name), "for": owner, "program": program.map(JSONValue.string) ?? .null]
    }

    /// `{"for": {"uid", "user"}, "program", "count"}`, or `{"gateway", "user"}` in `for`.
    private static func connections(_ group: OpenConnections.Group) -> JSONValue {
        [
            "for": group.caller.identity, "program": group.program.map(JSONValue.string) ?? .null,
            "count": .integer(Int64(group.count)),
        ]
    }

    /// The groups with the most connections, because not all are listed if there are too many.
    private static func largest(_ groups: [OpenConnections.Group]) -> [OpenConnections.Group] {
        // The names once, not for each comparison.
        let named = groups.map { (group: $0, name: $0.caller.identity.text, program: $0.program ?? "") }
        let sorted = named.sorted { one, other in
            guard one.group.count == other.group.count else { return one.group.count > other.group.count }
            return (one.name, one.program) < (other.name, other.program)
        }
        return sorted.prefix(maxGroups).map(\.group)
    }

    /// Joins lists of the same name, because both files and system sounds report what is playing. Objects get the
    /// members of both.
    private static func joined(_ one: JSONValue?, _ other: JSONValue) -> JSONValue {
        if let list = one?.arrayValue, let more = other.arrayValue { return .array(list + more) }
        guard var object = one?.objectValue, let more = other.objectValue else { return other }
        for (name, value) in more { object[name] = value }
        return .object(object)
    }
}

/// `stop`: ends at once all sound, recording and vibration that the caller may end: those of its own user, or
/// everybody's for root.
struct StopBCO: BCO {
    let touchesDevice = true
    let devices: [any Device]
    let permissions: Permissions

    func handle(_ call: borrowing Call) throws(CommandError) -> BusinessOutcome {
        let mayEnd = permissions.mayEnd(call.caller)
        for device in devices { device.stop(mayEnd: mayEnd) }
        return .result(.null)
    }
}

/// `doctor [what]`: checks every device now; with `sound` it also plays a tone and records it.
struct DoctorBCO: WaitingBCO {
    let touchesDevice = true
    let parts: [any Examined]

    func handle(_ call: borrowing Call) throws(CommandError) -> Awaited<BusinessOutcome> {
        let topic = call.string(0)
        let (isThorough, alone) = (topic == "sound", parts.filter { $0.topic == topic && topic != nil })
        let parts = alone.isEmpty ? parts : alone
        return .wait { () async throws(CommandError) in
            .result(await DoctorReport(of: parts, thoroughly: isThorough).json)
        }
    }
}

/// What a reload has found.
package struct Reloaded: Sendable {
    /// What is odd but harmless.
    package var warnings: [String] = []
    /// The keys of the settings that have changed since the start, and are taken up by a restart only.
    package var restart: [String] = []

    package init() {}
}

/// `reload`: reads the mappings again, and takes up what it can of the settings. Returns null, or `{"warnings": [text]}` if something is odd
/// but harmless, and `{"restart": [key]}` for settings that a restart takes up. If there are mistakes, it throws `invalid`
/// with all of them, and the old table stays.
struct ReloadBCO: WaitingBCO {
    let reload: @Sendable () async throws(CommandError) -> Reloaded

    func handle(_ call: borrowing Call) throws(CommandError) -> Awaited<BusinessOutcome> {
        .wait { () async throws(CommandError) in
            let found = try await reload()
            var answer = JSONObject()
            if !found.warnings.isEmpty { answer["warnings"] = .array(found.warnings.map(JSONValue.string)) }
            if !found.restart.isEmpty { answer["restart"] = .array(found.restart.map(JSONValue.string)) }
            return .result(answer.isEmpty ? .null : .object(answer))
        }
    }
}

/// `logMessage`: writes its parameters to the log, with the caller's name. The log escapes control characters. Without a
/// message the line is empty, as in the original; for `null` it is `null`.
struct LoggingVCO: VCO {
    let logger: Logger
    /// The most bytes of a message that are written.
    private static let maxBytes = 32 << 10

    func show(_ call: borrowing Call) throws(CommandError) -> ViewOutcome {
        var text = call.request.message?.isNull == true ? "null" : ""
        for index in 0..<call.request.parameterCount where text.utf8.count < Self.maxBytes {
            if index > 0 { text += " " }
            text += call.argument(index).excerpt(atMost: Self.maxBytes - text.utf8.count)
        }
        let caller = call.caller
        logger.info("JavaScriptMessage: \(text)", metadata: ["caller": "\(caller)"])
        return .proceed
    }
}
