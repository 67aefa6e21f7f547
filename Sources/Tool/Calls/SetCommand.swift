import ArgumentParser
import CommandLineText
import JSON
import QuickConnectClient

struct SetCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "set",
        abstract: "Sets a value of the device, and prints what it became.",
        usage: "quickconnect set [--socket <PATH>] [--timeout <SECONDS>] NAME VALUE ...",
        discussion: """
            A value of the type string takes the text as it is, also '' and 12; several words become one text. For any \
            other type VALUE is JSON. «quickconnect call NAME» prints the value.

            Examples:
              quickconnect set innerProgress 4.5
              quickconnect set signText 'Open until 6'
              quickconnect --device north set signText 12
            """
    )

    @OptionGroup var connection: ConnectionOptions

    @Argument(
        parsing: .captureForPassthrough,
        help: ArgumentHelp("The value, and what it becomes.", valueName: "NAME VALUE…"),
        completion: Completion.call
    )
    var words: [String] = []

    func run() throws {
        if words.first == "--help" || words.first == "-h" { throw CleanExit.helpRequest(self) }
        if let (name, text) = SetArguments.assignment(words) {
            // What is no value is not set with two words either.
            _ = try connection.type(of: name, in: [name, text])
        }
        let (name, texts) = try SetArguments.parts(words)
        let type: String?
        do { type = try connection.type(of: name, in: words) } catch {
            throw SetArguments.ordered(error, words, of: "set")
        }
        let new = try SetArguments.value(of: texts, as: type, call: ["quickconnect", "call", name])
        if type != "string", let hint = CallArguments.note(texts, of: name) { note(hint) }
        say(try connection.call(name, [new]).text)
    }
}

extension ConnectionOptions {
    /// The type of a value; nil if this connection may not ask. Throws a line that does what was meant where it is no value.
    /// - Parameter words: its name, and what was typed behind it.
    func type(of name: String, in words: [String]) throws -> String? {
        guard let answer = try explained(name) else { return nil }
        guard let value = answer["value"]?.objectValue else {
            throw ExitError(message: SetArguments.noValue(words, answer), status: ExitError.usageStatus)
        }
        return value["type"]?.stringValue
    }

    /// What `explain` says of a name; nil if this connection may not ask.
    func explained(_ name: String) throws -> JSONObject? {
        switch try result(of: "explain", [.string(name)]) {
        case .success(let value): return value.objectValue ?? [:]
        case .failure(let error) where error.code == "denied": return nil
        case .failure(let error): throw failure(error)
        }
    }
}
