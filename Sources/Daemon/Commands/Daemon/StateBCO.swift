import JSON
import QuickConnect

/// `state`: what the device does now, and for whom: `{"playing", "recording", "vibrating", "watched", "handlers",
/// "connections", "values", "events", "memory", "droppedAnswers"}`: lists, the values that the caller may read, by name,
/// what is kept for whom, and the number of answers that belonged to no call. A list has at most 100 members (connections:
/// 256), so that it takes little time; `more` then has how many others there are, by its name.
struct StateBCO: BCO {
    private let devices: [any Device]
    private let router: Router
    private static let maxMembers = 100
    private static let maxGroups = 256

    init(_ devices: [any Device], _ router: Router) {
        self.devices = devices
        self.router = router
    }

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
        var event: JSONObject = ["event": .string(name)]
        event["code"] = lack.map { .string($0.code.rawValue) }
        event["lack"] = lack.map { .string($0.message) }
        return .object(event)
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
