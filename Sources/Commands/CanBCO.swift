import JSON
import QuickConnect

/// `can [command, user?]`: whether the caller, or a user, may run a command, without running it.
/// Answers `{"command", "allowed": true}` or `{"command", "allowed": false, …the error}`.
struct CanBCO: CommandObject {
    let phase = Phase.business
    let waits = true
    private let accounts: any UserAccounts

    init(accounts: any UserAccounts) { self.accounts = accounts }

    func handle(_ call: borrowing Call) throws(CommandError) -> Outcome {
        let command = call[0]?.stringValue ?? ""
        let controller = call.session.frontController
        guard let user = call[1]?.stringValue else {
            return .result(try answer(command, call.caller, controller, call.session.socketRule))
        }
        let rule = call.session.socketRule
        return .wait { () async throws(CommandError) in
            guard let caller = await accounts.caller(forUser: user) else {
                throw CommandError(.notFound, "this device has no user '\(user)'")
            }
            return .result(try answer(command, caller, controller, rule))
        }
    }

    private func answer(
        _ command: String,
        _ caller: Caller,
        _ controller: FrontController,
        _ rule: SocketRule?
    ) throws(CommandError) -> JSONValue {
        var answer: JSONObject = ["command": .string(command), "allowed": true]
        guard let refusal = controller.refusal(of: command, for: caller, by: rule) else { return .object(answer) }
        guard refusal.code == .denied else { throw refusal }
        answer["allowed"] = false
        answer["code"] = .string(refusal.code.rawValue)
        answer["message"] = .string(refusal.message)
        answer.merge(refusal.details)
        return .object(answer)
    }
}
