import JSON
package import QuickConnect

/// `hello`: `{"protocol", "program", "version", "simulated": [device, …]}`.
struct HelloBCO: BCO {
    let identity: Identity

    func handle(_ call: borrowing Call) throws(CommandError) -> BusinessOutcome {
        .result([
            "protocol": .integer(Identity.protocolVersion),
            "program": .string(Identity.program),
            "version": .string(identity.version),
            "simulated": .array(identity.simulated.map(JSONValue.string)),
        ])
    }
}

/// The reply of `hello`.
package struct Identity: Sendable {
    package var version: String
    /// The devices that are simulated, such as `sound`.
    package var simulated: [String]

    package init(version: String, simulated: [String]) {
        self.version = version
        self.simulated = simulated
    }

    package static let program = "quickconnectd"
    package static let protocolVersion: Int64 = 1
}

/// `actFor [name, {groups, leases}]`: the first call on a gateway's connection, which acts for that user from then on, and
/// with `leases: true` is told when something is leased to it, and when nothing is any more.
struct ActForBCO: BCO {
    func handle(_ call: borrowing Call) throws(CommandError) -> BusinessOutcome {
        let name = call.string(0) ?? ""
        guard GatewayName.isValid(name) else {
            throw .invalid("/0", expected: "name, \(GatewayName.expectation)", got: call.gist(0))
        }
        var options = try OptionReader(call, 1, known: ["groups", "leases"])
        let groups = options.gatewayGroups("groups")
        let leases = options.boolean("leases") ?? false
        try options.finish()
        try call.connection.act(for: name, groups: Set(groups), hearsLeases: leases)
        return .result(.null)
    }
}

extension OptionReader {
    /// The groups that a gateway names for a user.
    mutating func gatewayGroups(_ name: String) -> [String] {
        texts(name, atMost: 64, "each of \(GatewayName.expectation)", where: GatewayName.isValid)
    }
}

/// `can [command, user?, {verb, groups}]`: whether the caller, or a user, may run a command, without running it; with a
/// verb, whether the text may be its first parameter. A gateway's user is written `web:ann`, with the groups in the
/// options.
///
/// Returns `{"command", "allowed": true}` or `{"command", "allowed": false, …the error}`; with `"verbs": {VERB: true or
/// false}` if the mapping has rules for verbs, or for setting a value (`set`) or running a schedule (`run`), and of an event
/// (`post`).
struct CanBCO: WaitingBCO {
    let accounts: any UserAccounts
    let controller: FrontController
    /// The sockets of gateways; their users may call the commands on the sockets' lists.
    let gateways: [SocketRule]

    private struct Question: Sendable {
        var command: String
        var verb: String?
        var groups: [String]

        init(_ call: borrowing Call) throws(CommandError) {
            command = call.string(0) ?? ""
            var options = try OptionReader(call, 2, known: ["verb", "groups"])
            verb = options.text("verb", atMost: Limits.nameBytes)
            groups = options.gatewayGroups("groups")
            try options.finish()
        }
    }

    func handle(_ call: borrowing Call) throws(CommandError) -> Awaited<BusinessOutcome> {
        let question = try Question(call)
        let rule = call.connection.socketRule
        guard let user = call.string(1) else { return .now(.result(try answer(question, call.caller, rule))) }
        if let (gateway, name) = GatewayName.parts(user) {
            let (caller, rule) = try gatewayUser(name, of: gateway, question.groups)
            return .now(.result(try answer(question, caller, rule)))
        }
        return .wait { () async throws(CommandError) in
            guard let caller = await accounts.caller(forUser: user) else {
                throw CommandError(.notFound, "this device has no user '\(user.shortened)'")
            }
            return .result(try answer(question, caller, rule))
        }
    }

    private func gatewayUser(
        _ name: String,
        of gateway: String,
        _ groups: [String]
    ) throws(CommandError) -> (Caller, SocketRule?) {
        if gateway == PlannedCall.gateway { return (PlannedCall.caller(name), nil) }
        guard let rule = gateways.first(where: { $0.gateway.map { ByteName($0.name) } == ByteName(gateway) }) else {
            throw CommandError(.notFound, "no socket of the settings has gateway: \(gateway.shortened)")
        }
        return (Caller(.gateway(name: gateway, user: name, groups: Set(groups))), rule)
    }

    private func answer(
        _ question: Question,
        _ caller: Caller,
        _ rule: SocketRule?
    ) throws(CommandError) -> JSONValue {
        let command = question.command
        var answer: JSONObject = ["command": .string(command), "allowed": true]
        let refusal = controller.refusal(of: command, question.verb, for: caller, by: rule)
        if refusal == nil, question.verb == nil { answer["verbs"] = try verbs(of: command, caller, rule) }
        guard let refusal else { return .object(answer) }
        guard refusal.code == .denied else { throw refusal }
        answer["allowed"] = false
        answer["code"] = .string(refusal.code.rawValue)
        answer["message"] = .string(refusal.message)
        answer.merge(refusal.details)
        return .object(answer)
    }

    /// Which of the verbs with rules the caller may use; nil if there are none.
    private func verbs(of command: String, _ caller: Caller, _ rule: SocketRule?) throws(CommandError) -> JSONValue? {
        let entry = try controller.entry(of: command)
        let canBeChanged = entry.setRule != nil || entry.event != nil
        let verbs = entry.verbs.all.map(\.verb) + (canBeChanged ? [entry.settingVerb] : [])
        guard !verbs.isEmpty else { return nil }
        return .object(
            JSONObject(verbs.map { ($0, .bool(controller.refusal(of: command, $0, for: caller, by: rule) == nil)) })
        )
    }
}

/// The users of the device as callers. Looking them up may block.
package protocol UserAccounts: Sendable {
    /// The user as a caller, with its groups; nil if the device has no such user.
    func caller(forUser name: String) async -> Caller?
}

/// `cancel [id]`: ends this connection's waiting calls with that id; each gets `cancelled`. Returns `null` even if no
/// such call is waiting, because its reply may just have been sent.
struct CancelBCO: BCO {
    func handle(_ call: borrowing Call) throws(CommandError) -> BusinessOutcome {
        // An id is text, but `msg=7` is read as the number 7. A value longer than any id is not read.
        if case .text(let text) = call.argument(0), text.count > 8 * Limits.idBytes { return .result(.null) }
        guard let id = call.string(0) ?? call.integer(0).map({ "\($0)" }) else {
            throw .invalid("/0", expected: "id, a string", got: call.gist(0))
        }
        call.connection.interruptCalls(id: id, with: CommandError(.cancelled, "the caller cancelled the call"))
        return .result(.null)
    }
}
