import ArgumentParser
import CommandLineText
import JSON
import Linux

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

    @OptionGroup var output: AnswerOptions

    @Argument(help: "The command.", completion: Completion.command)
    var command: String

    func run() throws {
        guard let answer = output.forPeople(try output.connection.call("explain", [.string(command)])) else { return }
        say(Explanation(answer.objectValue ?? [:]).text(width: Terminal.width))
    }
}
