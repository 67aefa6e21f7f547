import ArgumentParser
import CommandLineText
import JSON
import Linux

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
        // A name may have such a sign.
        let isName = SetArguments.assignment(words) != nil && (try? connection.explained(words[0])) ?? nil != nil
        // A command would be run. What no number is, two words do not make one.
        let name = (isName ? nil : SetArguments.assignment(words)?.name) ?? words.first ?? ""
        var isWhole = false
        if !name.isEmpty, !name.hasPrefix("-"), words.count < 3 {
            do { isWhole = try countedType(name) == "integer" } catch {
                throw SetArguments.ordered(error, words, of: "add")
            }
        }
        let (counted, parameters) = try Self.parts(words, isName: isName, isWhole: isWhole)
        say(try connection.call(counted, parameters).text)
    }

    /// The type of a number; nil if this connection may not ask. Throws what is right for what cannot be added to.
    private func countedType(_ name: String) throws -> String? {
        guard let answer = try connection.explained(name) else { return nil }
        func refuse(_ message: String) -> ExitError { ExitError(message: message, status: ExitError.usageStatus) }
        guard let value = answer["value"]?.objectValue else {
            let kind = answer["schedule"] != nil ? "a schedule" : answer["event"] != nil ? "an event" : "a command"
            throw refuse("'\(name)' is \(kind) and no value: «quickconnect explain \(name.shellWord)»")
        }
        if value["input"] == true {
            let source = value["bound"]?.stringValue ?? "hardware"
            throw refuse("'\(name)' is read from \(source): «quickconnect call \(name.shellWord)» prints it")
        }
        guard let type = value["type"]?.stringValue, !["integer", "number"].contains(type) else {
            return value["type"]?.stringValue
        }
        let line = "quickconnect explain \(name.shellWord)"
        throw refuse("'\(name)' is of type \(type); only a number can be added to: «\(line)»")
    }

    /// The words by which a call does the same.
    /// - Parameter tool: the words before `add`, for mistakes.
    static func words(of words: [String], tool: String) throws -> [String] {
        let (name, parameters) = try parts(words, tool: tool)
        return [name] + parameters.map(\.text)
    }

    private static func parts(
        _ words: [String],
        tool: String = "quickconnect",
        isName: Bool = false,
        isWhole: Bool = false
    ) throws -> (name: String, parameters: [JSONValue]) {
        let words = words.dropFirst().first == "--" ? [words[0]] + words.dropFirst(2) : words
        if !isName, let (name, text) = SetArguments.assignment(words) {
            let isNumber = (try? JSONParser.parse(text))?.numberValue != nil
            let line = "\(tool) add \(name.shellWord) \(isNumber ? text : "1")"
            throw ValidationError("NAME and NUMBER are two words: «\(line)».")
        }
        if words.count == 3, words[1] == "=" {
            throw ValidationError(
                "NAME and NUMBER are two words: «\(tool) add \(words[0].shellWord) \(words[2].shellWord)»."
            )
        }
        guard let name = words.first, words.count < 3 else {
            throw ValidationError("NAME and at most one NUMBER are expected, such as «quickconnect add people 1».")
        }
        if name.hasPrefix("-") { throw Self.unknownOption(name) }
        guard words.count == 2 else { return (name, [.null, ["add": 1]]) }
        guard let number = try? JSONParser.parse(words[1]), number.numberValue != nil else {
            if let note = SetArguments.noNumber(words[1], isWhole: isWhole) { throw ValidationError(note) }
            throw ValidationError("'\(words[1])' is no number, such as in «\(tool) add \(name.shellWord) 1».")
        }
        return (name, [.null, ["add": number]])
    }
}
