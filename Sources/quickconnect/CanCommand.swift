import ArgumentParser
import JSON
import QuickConnect

struct CanCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "can",
        abstract: "Tells whether a command is allowed, without running it.",
        discussion: """
            Exit status 0 where it is allowed, 1 where it is not.

            Examples:
              quickconnect can reload
              quickconnect can playSound --as kiosk
            """
    )

    @OptionGroup var connection: ConnectionOptions

    @Option(name: .customLong("as"), help: ArgumentHelp("Ask for another user.", valueName: "USER"))
    var user: String?

    @Flag(help: "Print JSON, for programs.")
    var json = false

    @Argument(help: "The command.", completion: .custom { _, _, _ in CommandNames.forCompletion() })
    var command: String

    func run() throws {
        let parameters = [command] + (user.map { [$0] } ?? [])
        let answer = try connection.call("can", message: JSONValue.array(parameters.map(JSONValue.string)).text)
        let members = answer.objectValue ?? [:]
        let isAllowed = members["allowed"] == true
        if json {
            say(answer.text)
        } else if isAllowed {
            say("\(user ?? "You") may call \(command).")
        } else {
            say("\(user ?? "You") may not: \(members["message"]?.stringValue ?? "").")
        }
        if !isAllowed { throw End.refused }
    }
}
