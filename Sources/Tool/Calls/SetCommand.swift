import ArgumentParser
import CommandLineText
import JSON
import Linux
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
        let (name, texts) = try SetArguments.parts(words)
        let new = try SetArguments.value(of: texts, as: try connection.type(of: name, in: words))
        say(try connection.call(name, [new]).text)
    }
}

extension ConnectionOptions {
    /// The type of a value; nil if this connection may not ask.
    /// - Parameter words: with which a command of that name would be called.
    func type(of name: String, in words: [String]) throws -> String? {
        let answer: JSONValue
        switch try result(of: "explain", [.string(name)]) {
        case .success(let value): answer = value
        case .failure(let error) where error.code == "denied": return nil
        case .failure(let error): throw ExitError(error)
        }
        guard let value = answer.objectValue?["value"]?.objectValue else {
            let call = (["quickconnect", "call"] + words).map(\.shellWord).joined(separator: " ")
            throw ExitError(message: "'\(name)' is a command and no value: «\(call)»", status: ExitError.usageStatus)
        }
        return value["type"]?.stringValue
    }
}
