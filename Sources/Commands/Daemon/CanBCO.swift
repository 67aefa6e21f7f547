import JSON
import QuickConnect

/// `can [command, user?]`: whether the caller, or a user, may run a command, without running it.
/// Answers `{"command", "allowed": true}` or `{"command", "allowed": false, …the error}`.
struct CanBCO: WaitingBCO {
    private let accounts: any UserAccounts
    private let controller: FrontController

    init(accounts: any UserAccounts, _ controller: FrontController) {
        self.accounts = accounts
        self.controller = controller
    }

    func handle(_ call: borrowing Call) throws(CommandError) -> Awaited<BusinessOutcome> {
        let command = call.string(0) ?? ""
        let rule = call.connection.socketRule
        guard let user = call.string(1) else { return .now(.result(try answer(command, call.caller, rule))) }
        return .wait { () async throws(CommandError) in
            guard let caller = await accounts.caller(forUser: user) else {
                throw CommandError(.notFound, "this device has no user '\(user.shortened)'")
            }
            return .result(try answer(command, caller, rule))
        }
    }

    private func answer(_ command: String, _ caller: Caller, _ rule: SocketRule?) throws(CommandError) -> JSONValue {
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
