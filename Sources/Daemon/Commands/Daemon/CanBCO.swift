import JSON
import QuickConnect

/// `can [command, user?, {verb, groups}]`: whether the caller, or a user, may run a command, without running it; with a
/// verb, whether the text may be its first parameter. A gateway's user is written `web:ann`, with the groups in the
/// options.
///
/// Returns `{"command", "allowed": true}` or `{"command", "allowed": false, …the error}`; with `"verbs": {VERB: true or
/// false}` if the mapping has rules for verbs, or for setting a value (`set`).
struct CanBCO: WaitingBCO {
    private let accounts: any UserAccounts
    private let controller: FrontController
    private let gateways: [SocketRule]

    /// - Parameter gateways: the sockets of gateways; their users may call the commands on the sockets' lists.
    init(accounts: any UserAccounts, _ controller: FrontController, _ gateways: [SocketRule]) {
        self.accounts = accounts
        self.controller = controller
        self.gateways = gateways
    }

    private struct Question: Sendable {
        var command: String
        var verb: String?
        var groups: [String]

        init(_ call: borrowing Call) throws(CommandError) {
            command = call.string(0) ?? ""
            var options = try OptionReader(call.object(2), field: "/2", known: ["verb", "groups"])
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
    ) throws(CommandError) -> (Caller, SocketRule) {
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
        let verbs = entry.verbs.all.map(\.verb) + (entry.setRule == nil ? [] : [VerbRules.setting])
        guard !verbs.isEmpty else { return nil }
        return .object(
            JSONObject(verbs.map { ($0, .bool(controller.refusal(of: command, $0, for: caller, by: rule) == nil)) })
        )
    }
}
