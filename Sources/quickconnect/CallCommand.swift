import ArgumentParser
import JSON
import QuickConnect

struct CallCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "call",
        abstract: "Makes a call and prints its answer as JSON.",
        usage: "quickconnect call [--socket <PATH>] [--timeout <SECONDS>] COMMAND [ARGUMENT ...]",
        discussion: """
            Options stand before COMMAND; everything behind it is an argument, also what begins with a dash. Without \
            an argument no message is sent; one is sent as it is; more become a JSON array, in which an argument \
            that is JSON stays JSON and any other becomes a string.

            Examples:
              quickconnect call playSound 0
              quickconnect call playSound -1
              quickconnect call post doorbell '{"door": "front"}'
              quickconnect call --timeout 2.5 hello
            """
    )

    @OptionGroup var connection: ConnectionOptions

    @Argument(
        parsing: .captureForPassthrough,
        help: ArgumentHelp("The command, and its arguments.", valueName: "COMMAND [ARGUMENT…]"),
        completion: .custom { _, _, _ in CommandNames.forCompletion() }
    )
    var words: [String] = []

    func run() throws {
        guard let command = words.first, !command.isEmpty else {
            throw ValidationError("COMMAND is missing.")
        }
        if command == "--help" || command == "-h" { throw CleanExit.helpRequest(self) }
        guard !command.hasPrefix("-") else { throw ValidationError("Unknown option '\(command)'.") }
        say(try connection.call(command, message: Self.message(Array(words.dropFirst()))).text)
    }

    /// The text of `msg` that arguments stand for.
    static func message(_ arguments: [String]) -> String? {
        guard arguments.count > 1 else { return arguments.first }
        return JSONValue.array(arguments.map { (try? JSONParser.parse($0)) ?? .string($0) }).text
    }
}

/// The commands of the daemon, for the shell's completion.
enum CommandNames {
    /// None where no daemon answers at once: completion must not disturb.
    static func forCompletion() -> [String] {
        var options = ConnectionOptions()
        options.socket = nil
        options.timeout = 0.5
        return (try? options.call("commands", message: nil))?.objectValue?.names ?? []
    }
}
