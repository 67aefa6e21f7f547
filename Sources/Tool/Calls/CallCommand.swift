import ArgumentParser
import CommandLineText
import JSON

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
        let command = try first(of: words, "COMMAND")
        let arguments = Array(words.dropFirst())
        if let hint = CallArguments.note(arguments, of: command) { note(hint) }
        do {
            let result = try connection.result(of: command, message: CallArguments.message(arguments))
            say(try result.mapError { json ? ExitError($0) : connection.failure($0) }.get().text)
        } catch var end as ExitError {
            if json { throw end.asJSON }
            if let remedy = CallArguments.remedy(arguments, of: command, error: end) { end.message += "\n" + remedy }
            if let pattern = CallArguments.pattern(arguments, of: command, error: end),
                (try? connection.explained(command))?["value"]?.objectValue?["bound"] == "gpio"
            {
                end.message += "\n" + pattern
            }
            if end.code == "unavailable", end.message.contains("no client has registered the handler") {
                end.message +=
                    "\n«quickconnect scripts» shows the scripts of the service, «quickconnect call state» all handlers"
            }
            throw end
        }
    }
}
