import ArgumentParser
import CommandLineText
import JSON
import Linux
import QuickConnect

struct ExplainCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "explain",
        abstract: "Explains one command: its parameters, its stack, who may call it, and its last error.",
        discussion: """
            Examples:
              quickconnect explain playSound
              quickconnect explain playSound --json
            """
    )

    @OptionGroup var connection: ConnectionOptions

    @Flag(help: "Print JSON, for programs.")
    var json = false

    @Argument(help: "The command.", completion: Completion.command)
    var command: String

    func run() throws {
        let answer = try connection.call("explain", message: JSONValue.array([.string(command)]).text)
        guard !json else { return say(answer.text) }
        say(Explanation(answer.objectValue ?? [:]).text(width: Terminal.width))
    }
}
