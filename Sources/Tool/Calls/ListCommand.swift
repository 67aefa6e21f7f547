import ArgumentParser
import CommandLineText
import JSON
import Linux

struct ListCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "Lists the commands.",
        discussion: """
            Examples:
              quickconnect list
              quickconnect list --json
            """
    )

    @OptionGroup var output: AnswerOptions

    func run() throws {
        guard let commands = output.forPeople(try output.connection.call("commands")) else { return }
        say(CommandListing.text(commands, width: Terminal.width))
    }
}
