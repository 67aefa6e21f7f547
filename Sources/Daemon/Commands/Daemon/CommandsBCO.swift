import JSON
import QuickConnect

/// `commands`: the table, as an object `{NAME: {"help", "parameters", "allow"?, "value"?, "homeAssistant"?}}`, handlers
/// that are commands of their own as `{NAME: {"help", "parameters": null, "handler": true}}`. On a socket with its own
/// list, only the commands on it.
///
/// If there are many commands, a task builds it, off the event loop.
struct CommandsBCO: WaitingBCO {
    private let controller: FrontController
    private static let many = 500

    init(_ controller: FrontController) { self.controller = controller }

    func handle(_ call: borrowing Call) throws(CommandError) -> Awaited<BusinessOutcome> {
        let rule = call.connection.socketRule
        guard controller.currentTable.count > Self.many else { return .now(.result(answer(rule))) }
        return .wait { () async throws(CommandError) in .result(answer(rule)) }
    }

    private func answer(_ rule: SocketRule?) -> JSONValue {
        let entries = controller.currentTable.entries.filter { rule?.lists($0.command, for: $0.gateways) ?? true }
        let handlers = controller.handlerCommands.filter { rule?.lists($0, for: nil) ?? true }
        var all = entries.map { (name: $0.command, value: JSONValue.object(describe($0))) }
        all += handlers.map { name in
            (name, ["help": "A handler that a client registered.", "parameters": nil, "handler": true])
        }
        return .object(JSONObject(all.sorted { $0.name < $1.name }.map { ($0.name, $0.value) }))
    }

    private func describe(_ entry: MappingEntry) -> JSONObject {
        var object: JSONObject = [
            "help": entry.help.map(JSONValue.string) ?? .null,
            "parameters": entry.parameters?.json ?? .null,
        ]
        object["value"] = entry.value?.json
        object["homeAssistant"] = entry.homeAssistant
        if let rule = entry.rule { object["allow"] = .string(rule.words) }
        let gateways = entry.gateways.map(\.text).sorted()
        if !gateways.isEmpty { object["gateways"] = .array(gateways.map(JSONValue.string)) }
        return object
    }
}
