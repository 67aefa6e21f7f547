import JSON
import QuickConnect

/// `state`: what the device does now, and for whom: `{"playing", "recording", "vibrating", "watched", "handlers",
/// "connections", "values", "events", "droppedAnswers"}`: lists, the values that the caller may read, by name, and the
/// number of answers that belonged to no call.
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
        // With thousands of handlers, values or connections a task builds the reply, off the event loop.
        guard router.handlers.count + router.values.count + router.connections.count > Self.many else {
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
        state["events"] = .array(router.knownEvents(for: caller, by: rule).map(Self.event))
        state["handlers"] = .array(router.handlers.holders.sorted { $0.name < $1.name }.map(Self.handler))
        state["connections"] = .array(
            router.connections.groups.sorted(by: Self.isFirst).prefix(Self.many).map(Self.connections)
        )
        let values = router.values.all.filter {
            router.frontController.refusal(of: $0.name, for: caller, by: rule) == nil
        }
        state["values"] = .object(JSONObject(values.map { ($0.name, $0.value) }))
        state["droppedAnswers"] = .integer(Int64(router.handlers.droppedAnswerCount))
        return .object(state)
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
        let (caller, program) = (client.caller, client.process?.program)
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

    /// The groups with the most connections come first, because not all are listed if there are too many.
    private static func isFirst(_ one: OpenConnections.Group, _ other: OpenConnections.Group) -> Bool {
        guard one.count == other.count else { return one.count > other.count }
        let (name, otherName) = (one.caller.identity.text, other.caller.identity.text)
        return name == otherName ? (one.program ?? "") < (other.program ?? "") : name < otherName
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
