import ArgumentParser
import CommandLineText
import JSON
import Linux
import QuickConnectClient

struct MacroCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "macro",
        abstract: "Lists, shows, runs and edits macros: JavaScript functions that change while the device runs.",
        discussion: """
            Examples:
              quickconnect macro list
              quickconnect macro run addInner 3
              quickconnect macro trace addInner 3      each call that it makes, with its result and time
              quickconnect macro edit addInner         in $EDITOR; a mistake brings the editor back
              quickconnect macro history addInner --diff
              quickconnect macro revert addInner       to the version before
            """,
        subcommands: [
            MacroListCommand.self, MacroShowCommand.self, MacroRunCommand.self, MacroTraceCommand.self,
            MacroEditCommand.self, MacroCheckCommand.self, MacroHistoryCommand.self, MacroRevertCommand.self,
        ]
    )
}

extension ConnectionOptions {
    /// One call of `macro`. An error with a place shows it.
    func macro(_ parameters: [JSONValue]) throws -> JSONValue {
        try result(of: "macro", parameters).mapError { ExitError(macro: $0) }.get()
    }
}

extension ExitError {
    /// An error of a macro, with its line.
    init(macro error: ErrorReply) {
        let isStarting = error.message.contains("'macros'") && Program.isInstalled("quickconnect-scripts")
        let macros = "unavailable: the macros do not run; «quickconnect scripts» says why, or how to start their host"
        self.init(error, unanswered: isStarting ? macros : OwnPrograms.noScriptHost)
    }

    /// An error with its line.
    /// - Parameter unanswered: what to say where nobody answers the command.
    init(_ error: ErrorReply, unanswered: String) {
        self.init(error)
        let place = MacroPlace(error.members).text
        if code == "unavailable", error.message.contains("no client has registered") {
            message = unanswered
        } else if !place.isEmpty {
            message += "\n\(place)"
        }
    }
}

struct MacroListCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "Lists the macros: origin, version, and syntax errors."
    )

    @OptionGroup var output: AnswerOptions

    func run() throws {
        guard let answer = output.forPeople(try output.connection.macro(["list"])) else { return }
        let macros = (answer.objectValue?["macros"]?.arrayValue ?? []).compactMap(\.objectValue)
        let problems = (answer.objectValue?["problems"]?.arrayValue ?? []).compactMap(\.stringValue)
        let rows = macros.map { [$0["name"]?.stringValue ?? "", Self.words($0)] }
        say(rows.isEmpty ? "There are no macros." : Table.text(rows, width: Terminal.width))
        for problem in problems { say("warning: \(problem)") }
    }

    private static func words(_ macro: JSONObject) -> String {
        let version = macro["version"]?.integerValue ?? 0
        let words = "version \(version), \(macro["from"]?.stringValue ?? "")"
        guard let error = macro["error"]?.objectValue else { return words }
        let line = error["line"]?.integerValue.map { "line \($0): " } ?? ""
        return "\(words); its newest text does not run: \(line)\(error["message"]?.stringValue ?? "")"
    }
}

struct MacroShowCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Shows a macro with line numbers; the line of a syntax error is marked."
    )

    @OptionGroup var output: AnswerOptions

    @Argument(help: "The macro.", completion: Completion.macro)
    var name: String

    func run() throws {
        guard let answer = output.forPeople(try output.connection.macro(["show", .string(name)])) else { return }
        let macro = answer.objectValue ?? [:]
        let version = macro["version"]?.integerValue ?? 0
        say("\(name), version \(version), \(macro["from"]?.stringValue ?? ""): \(macro["file"]?.stringValue ?? "")")
        say(ListedMacro.text(macro["text"]?.stringValue ?? "", mistake: macro["error"]?.objectValue))
    }
}

struct MacroRunCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "run",
        abstract: "Runs a macro and prints its return value as JSON.",
        usage: "quickconnect macro run [--socket <PATH>] [--timeout <SECONDS>] NAME [ARGUMENT ...]",
        discussion: "An argument that is JSON stays JSON, any other becomes a string: the text 12 is '\"12\"'."
    )

    @OptionGroup var connection: ConnectionOptions

    @Argument(
        parsing: .captureForPassthrough,
        help: ArgumentHelp("The macro, and its arguments.", valueName: "NAME [ARGUMENT…]"),
        completion: Completion.macro
    )
    var words: [String] = []

    func run() throws {
        say(try connection.macro(["run"] + nameAndArguments(words)).text)
    }
}

struct MacroTraceCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "trace",
        abstract: "Runs a macro, and shows each call that it makes.",
        usage: "quickconnect macro trace [--socket <PATH>] [--timeout <SECONDS>] [--json] NAME [ARGUMENT ...]"
    )

    @OptionGroup var output: AnswerOptions

    @Argument(
        parsing: .captureForPassthrough,
        help: ArgumentHelp("The macro, and its arguments.", valueName: "NAME [ARGUMENT…]"),
        completion: Completion.macro
    )
    var words: [String] = []

    func run() throws {
        guard let answer = output.forPeople(try output.connection.macro(["trace"] + nameAndArguments(words)))
        else { return }
        for call in (answer.objectValue?["calls"]?.arrayValue ?? []).compactMap(\.objectValue) { say(Self.line(call)) }
        say("returns \(answer.objectValue?["value"]?.text ?? "null")")
    }

    /// `innerProgress 3 → 3  (0.2 ms)`.
    private static func line(_ call: JSONObject) -> String {
        let arguments = (call["arguments"]?.arrayValue ?? []).map { " \($0.text)" }.joined()
        let error = call["error"]?.objectValue
        let failure = error.map { "\($0["code"]?.stringValue ?? ""): \($0["message"]?.stringValue ?? "")" }
        let result = failure ?? call["result"]?.text ?? "no reply yet"
        let time = call["milliseconds"]?.numberValue.map { "  (\(JSONValue.short($0)) ms)" } ?? ""
        return "\(call["command"]?.stringValue ?? "")\(arguments) → \(result)\(time)"
    }
}

struct MacroCheckCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Checks the syntax of a macro without running or saving it.",
        discussion: "FILE.js checks a file, NAME the macro of that name."
    )

    @OptionGroup var connection: ConnectionOptions

    @Argument(help: ArgumentHelp("The macro, or a file.", valueName: "NAME|FILE.js"), completion: Completion.macro)
    var name: String

    func run() throws {
        guard name.hasSuffix(".js") else {
            _ = try connection.macro(["check", .string(name)])
            return
        }
        let text = try LocalFile.text(name, maximumBytes: 16 << 20)
        let macro = LocalFile.last(of: name).dropLast(3)
        let result = try connection.result(of: "macro", ["check", .string(String(macro)), .string(text)])
        guard case .failure(var error) = result else { return }
        error.members["file"] = .string(name)
        throw ExitError(macro: error)
    }
}

struct MacroRevertCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "revert",
        abstract: "Restores an old version, by default the previous one."
    )

    @OptionGroup var connection: ConnectionOptions

    @Argument(help: "The macro.", completion: Completion.macro)
    var name: String

    @Argument(help: "The number of a version, as history shows it.")
    var version: Int?

    func run() throws {
        let number = version.map { [JSONValue.integer(Int64($0))] } ?? []
        let answer = try connection.macro(["revert", .string(name)] + number)
        say("\(name) is version \(answer.objectValue?["version"]?.text ?? "?") now.")
    }
}
