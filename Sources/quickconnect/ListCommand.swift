import ArgumentParser
import JSON
import QuickConnect

struct ListCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "Lists what can be called.",
        discussion: """
            Examples:
              quickconnect list
              quickconnect list --json
            """
    )

    @OptionGroup var connection: ConnectionOptions

    @Flag(help: "Print JSON, for programs.")
    var json = false

    func run() throws {
        let commands = try connection.call("commands", message: nil)
        guard !json else { return say(commands.text) }
        let rows = (commands.objectValue ?? [:]).map { name, entry in
            [name + Self.parameters(entry), entry.objectValue?["help"]?.stringValue ?? ""]
        }
        say(Table.text(rows, width: Terminal.width))
    }

    /// The parameters in short: ` sound [level] names…`.
    static func parameters(_ entry: JSONValue) -> String {
        guard let parameters = entry.objectValue?["parameters"]?.arrayValue else {
            return " …"
        }
        return parameters.compactMap(\.objectValue).map { parameter in
            var name = parameter["name"]?.stringValue ?? "?"
            if parameter["repeat"] == true { name += "…" }
            return parameter["optional"] == true ? " [\(name)]" : " \(name)"
        }.joined()
    }
}
