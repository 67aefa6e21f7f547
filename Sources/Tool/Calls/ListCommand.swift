import ArgumentParser
import CommandLineText
import JSON
import Linux
import QuickConnect

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

    @OptionGroup var connection: ConnectionOptions

    @Flag(help: "Print JSON, for programs.")
    var json = false

    func run() throws {
        let commands = try connection.call("commands", message: nil)
        guard !json else { return say(commands.text) }
        say(CommandListing.text(commands, width: Terminal.width))
    }
}
