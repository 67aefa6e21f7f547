import ArgumentParser
import CommandLineText
import JSON
import Linux
import QuickConnect
import QuickConnectClient

struct ProcedureCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "procedure",
        abstract:
            "Lists, runs and tests stored procedures: JavaScript that computes results from the data of the device.",
        discussion: """
            Examples:
              quickconnect procedure list
              quickconnect procedure run hasEntries 2026-11-21 2026-11-22
              quickconnect procedure check report.js
              quickconnect procedure test report.js    on report.test.json; needs no daemon
              sudo quickconnect procedure sync         fetches procedures from the server in the settings
            """,
        subcommands: [
            ProcedureListCommand.self, ProcedureShowCommand.self, ProcedureRunCommand.self, ProcedureCheckCommand.self,
            ProcedureTestCommand.self, ProcedureSyncCommand.self,
        ]
    )
}

extension ConnectionOptions {
    /// One call to the service of procedures. An error with a place shows it.
    func dataService(_ command: String, _ parameters: [JSONValue]) throws -> JSONValue {
        try result(of: command, parameters).mapError { ExitError(dataService: $0) }.get()
    }
}

extension ExitError {
    /// An error of a procedure, with its line.
    init(dataService error: ErrorReply) {
        self.init(error, unanswered: OwnPrograms.unavailable("quickconnect-data") ?? error.message)
    }
}

struct ProcedureListCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "Lists the stored procedures, their origin, and the recorded events."
    )

    @OptionGroup var output: AnswerOptions

    func run() throws {
        guard let answer = output.forPeople(try output.connection.dataService("procedures", ["list"])) else { return }
        let object = answer.objectValue ?? [:]
        let rows = (object["procedures"]?.arrayValue ?? []).compactMap(\.objectValue).map {
            [$0["name"]?.stringValue ?? "", "\($0["from"]?.stringValue ?? ""): \($0["file"]?.stringValue ?? "")"]
        }
        say(rows.isEmpty ? "There are no procedures." : Table.text(rows, width: Terminal.width))
        let recording = object["recording"]?.objectValue ?? [:]
        let events = (recording["events"]?.arrayValue ?? []).compactMap(\.stringValue)
        say(events.isEmpty ? "Nothing is recorded." : "Recorded: \(events.joined(separator: ", ").escapingControls).")
        if let sync = object["sync"], sync != .null { say("Fetched: \(FetchedState(sync).text).") }
        let problems = (object["problems"]?.arrayValue ?? []) + [recording["problem"]].compactMap { $0 }
        for problem in problems.compactMap(\.stringValue) { say("warning: \(problem)") }
        if let finding = Finding(changesOf: recording) {
            say("warning: \([finding.says, finding.fix].compactMap { $0 }.joined(separator: "; "))")
        }
    }
}

struct ProcedureShowCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Shows a stored procedure with line numbers."
    )

    @OptionGroup var output: AnswerOptions

    @Argument(help: "The procedure.", completion: Completion.procedure)
    var name: String

    func run() throws {
        guard let answer = output.forPeople(try output.connection.dataService("procedures", ["show", .string(name)]))
        else { return }
        let procedure = answer.objectValue ?? [:]
        say("\(name), \(procedure["from"]?.stringValue ?? ""): \(procedure["file"]?.stringValue ?? "")")
        say(ListedMacro.text(procedure["text"]?.stringValue ?? "", mistake: nil))
    }
}

struct ProcedureRunCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "run",
        abstract: "Runs a stored procedure and prints its answer as JSON.",
        usage: "quickconnect procedure run [--socket <PATH>] [--timeout <SECONDS>] NAME [ARGUMENT ...]",
        discussion: "An argument that is JSON stays JSON, any other becomes a string: the text 12 is '\"12\"'."
    )

    @OptionGroup var connection: ConnectionOptions

    @Argument(
        parsing: .captureForPassthrough,
        help: ArgumentHelp("The procedure, and its arguments.", valueName: "NAME [ARGUMENT…]"),
        completion: Completion.procedure
    )
    var words: [String] = []

    func run() throws {
        say(try connection.dataService("execute", nameAndArguments(words)).text)
    }
}

struct ProcedureCheckCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Checks the syntax of a stored procedure without running it.",
        discussion: "FILE.js checks a file, NAME the procedure of that name."
    )

    @OptionGroup var connection: ConnectionOptions

    @Argument(
        help: ArgumentHelp("The procedure, or a file.", valueName: "NAME|FILE.js"),
        completion: Completion.procedure
    )
    var name: String

    func run() throws {
        guard name.hasSuffix(".js") else {
            _ = try connection.dataService("procedures", ["check", .string(name)])
            return
        }
        let text = try LocalFile.text(name, maximumBytes: 1 << 20)
        let folder = Folders.parent(of: Folders.absolute(name)).map(LocalFile.last)
        // A library has no function execute.
        let procedure = (folder == "lib" ? "lib/" : "") + LocalFile.last(of: name).dropLast(3)
        _ = try connection.dataService("procedures", ["check", .string(procedure), .string(text)])
    }
}

struct ProcedureTestCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "test",
        abstract: "Runs stored procedures with their test cases NAME.test.json. Needs no daemon.",
        discussion: "Exit status: 0 all tests passed, 1 a test failed."
    )

    @Option(help: ArgumentHelp("The settings file, for the limits.", valueName: "FILE"))
    var config: String?

    @Argument(
        help: ArgumentHelp("Procedures, or files.", valueName: "NAME|FILE.js"),
        completion: .file(extensions: ["js"])
    )
    var names: [String]

    /// Replaces this process by the script host's program, which has the JavaScript engine.
    func run() throws {
        let words = (config.map { ["--config", $0] } ?? []) + names.flatMap { ["--test-procedure", $0] }
        try OwnPrograms.become("quickconnect-scripts", words)
    }
}
