import ArgumentParser
import CommandLineText
import Glibc
import JSON
import QuickConnect

struct CallCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "call",
        abstract: "Makes a call and prints its answer as JSON.",
        usage: "quickconnect call [--socket <PATH>] [--timeout <SECONDS>] [--json] COMMAND [ARGUMENT ...]",
        discussion: """
            Options come before COMMAND; everything after it is an argument, even if it begins with a dash. Without \
            an argument, no message is sent; a single argument is sent unchanged; several become a JSON array, in which \
            an argument that is JSON stays JSON and any other becomes a string.

            With --json an error is also a line of JSON, on standard error.

            Examples:
              quickconnect call playSound 0
              quickconnect call playSound -1
              quickconnect call post doorbell '{"door": "front"}'
              quickconnect call --timeout 2.5 hello
            """
    )

    @OptionGroup var connection: ConnectionOptions

    @Flag(help: "Print errors as JSON, for programs.")
    var json = false

    @Argument(
        parsing: .captureForPassthrough,
        help: ArgumentHelp("The command, and its arguments.", valueName: "COMMAND [ARGUMENT…]"),
        completion: Completion.call
    )
    var words: [String] = []

    func run() throws {
        guard let command = words.first, !command.isEmpty else {
            throw ValidationError("COMMAND is missing.")
        }
        if command == "--help" || command == "-h" { throw CleanExit.helpRequest(self) }
        guard !command.hasPrefix("-") else { throw ValidationError("Unknown option '\(command)'.") }
        let arguments = Array(words.dropFirst())
        if let note = CallArguments.note(arguments, of: command) { write("quickconnect: \(note)\n", to: STDERR_FILENO) }
        do {
            say(try connection.call(command, message: CallArguments.message(arguments)).text)
        } catch let end as ExitError {
            throw json ? end.asJSON : end
        }
    }
}
