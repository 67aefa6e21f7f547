import ArgumentParser
import CommandLineText
import JSON
import QuickConnectClient

struct AddCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "add",
        abstract: "Adds to a number of the device in one step, and prints what it became.",
        usage: "quickconnect add [--socket <PATH>] [--timeout <SECONDS>] NAME [NUMBER]",
        discussion: """
            Without NUMBER it adds 1. Nothing comes between reading the value and setting it, so that no count is lost.

            Examples:
              quickconnect add people
              quickconnect add innerProgress -0.5
              quickconnect --device north add people 2
            """
    )

    @OptionGroup var connection: ConnectionOptions

    @Argument(
        parsing: .captureForPassthrough,
        help: ArgumentHelp("The value, and what is added to it.", valueName: "NAME NUMBER"),
        completion: Completion.call
    )
    var words: [String] = []

    func run() throws {
        if words.first == "--help" || words.first == "-h" { throw CleanExit.helpRequest(self) }
        let (name, parameters) = try Self.parts(words)
        // A command would be run.
        let type = try connection.type(of: name, in: words)
        if let type, !["integer", "number"].contains(type) {
            throw ExitError(
                message: "'\(name)' is of type \(type); only a number can be added to",
                status: ExitError.usageStatus
            )
        }
        say(try connection.call(name, parameters).text)
    }

    /// The words by which a call does the same.
    static func words(of words: [String]) throws -> [String] {
        let (name, parameters) = try parts(words)
        return [name] + parameters.map(\.text)
    }

    private static func parts(_ words: [String]) throws -> (name: String, parameters: [JSONValue]) {
        guard let name = words.first, words.count < 3 else {
            throw ValidationError("NAME and at most one NUMBER are expected, such as «quickconnect add people 1».")
        }
        if name.hasPrefix("-") { throw Self.unknownOption(name) }
        guard words.count == 2 else { return (name, [.null, ["add": 1]]) }
        guard let number = try? JSONParser.parse(words[1]), number.numberValue != nil else {
            throw ValidationError("'\(words[1])' is no number; «quickconnect set» sets a text.")
        }
        return (name, [.null, ["add": number]])
    }
}
