import JSON
import QuickConnect

/// `commands`: the table, as an object `{NAME: {"help", "parameters", "allow"?}}`, handlers that are commands by
/// themselves as `{NAME: {"help", "parameters": null, "handler": true}}`. On a socket with a list of its own, those of it.
struct CommandsBCO: CommandObject {
    let phase = Phase.business

    func handle(_ call: borrowing Call) throws(CommandError) -> Outcome {
        let controller = call.session.frontController
        let table = controller.currentTable
        var commands: JSONObject = [:]
        let handlers = controller.handlers.commandNames.filter { table[$0] == nil }
        let listed = call.session.socketRule?.commands
        for name in (Array(table.entries.keys) + handlers).sorted() where listed?.contains(name) ?? true {
            if let entry = table[name] {
                commands[name] = .object(describe(entry))
            } else {
                commands[name] = ["help": "A handler that a client registered.", "parameters": nil, "handler": true]
            }
        }
        return .result(.object(commands))
    }

    private func describe(_ entry: MappingEntry) -> JSONObject {
        var object: JSONObject = [
            "help": entry.help.map(JSONValue.string) ?? .null,
            "parameters": entry.parameters?.json ?? .null,
        ]
        if let rule = entry.rule { object["allow"] = .string(rule.words) }
        return object
    }
}
