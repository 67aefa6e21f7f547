import ArgumentParser
import CommandLineText
import Glibc
import JSON
import Linux
import QuickConnect

struct ProcedureSyncCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sync",
        abstract: "Fetches stored procedures from the server in the settings, and installs them.",
        discussion: """
            Either all fetched procedures are replaced, or none. As root it starts the service quickconnect-sync.

            Exit status: 0 the procedures are up to date, 1 they are not, and the previous ones stay.
            """
    )

    private static let program = "quickconnect-sync"

    @OptionGroup var connection: ConnectionOptions

    @Flag(help: "Print what would change, and change nothing.")
    var dryRun = false

    @Option(help: ArgumentHelp("The settings file.", valueName: "FILE"))
    var config: String?

    func run() throws {
        try OwnPrograms.require(Self.program)
        let sync = try state("list").objectValue?["sync"]
        guard let folder = sync?.objectValue?["folder"]?.stringValue else {
            throw ExitError(message: "the settings name no server (procedures: sync)")
        }
        guard Self.mayWrite(folder) else {
            throw ExitError(message: "\(folder) is another user's: use sudo")
        }
        let code = fetch()
        guard !dryRun else { throw ExitError(message: "", status: code) }
        let state = FetchedState(try state("sync"))
        say(state.text)
        if !state.isOK || code != 0 { throw ExitError.refused }
    }

    private func state(_ verb: String) throws -> JSONValue {
        try connection.dataService("procedures", [.string(verb)])
    }

    private static func mayWrite(_ folder: String) -> Bool {
        access(folder, W_OK) == 0 || (errno == ENOENT && access(Folders.parent(of: folder) ?? "/", W_OK) == 0)
    }

    /// The service has its own user, its sandbox and the server's token; without systemd the program runs directly.
    private func fetch() -> Int32 {
        let isService = geteuid() == 0 && !dryRun && config == nil && ServiceManager.isRunning
        if isService { return Self.wait(for: "systemctl", ["start", "quickconnect-sync.service"]) }
        let words = (config.map { ["--config", $0] } ?? []) + (dryRun ? ["--dry-run"] : [])
        return Self.wait(for: Program.installed(Self.program), words)
    }

    /// Runs a program with the same output as this one.
    private static func wait(for program: String, _ words: [String]) -> Int32 {
        do throws(SystemCallError) {
            return Program.wait(for: try Program.start([program] + words)) == .status(0) ? 0 : 1
        } catch {
            Descriptor.write("\(program) cannot be run: \(SystemCallError.text(error.code))\n", to: STDERR_FILENO)
            return 1
        }
    }
}

/// What the service of procedures says of what was fetched.
struct FetchedState {
    private let object: JSONObject
    private let last: JSONObject

    init(_ json: JSONValue) {
        object = json.objectValue ?? [:]
        last = object["last"]?.objectValue ?? [:]
    }

    private func word(_ name: String) -> String? { object[name]?.stringValue }

    /// What prevents the newest set from being used, apart from a server that does not answer.
    private var fault: String? {
        if let problem = word("problem") { return problem }
        if let reason = word("refused") { return "refused, and what was there before stays: \(reason)" }
        return last["outcome"] == "refused" ? "refused: \(last["says"]?.stringValue ?? "")" : nil
    }

    var isOK: Bool { fault == nil && last["outcome"] != "unreachable" }

    /// A sentence.
    var text: String {
        let files = object["files"]?.integerValue.map { "\($0) files" } ?? "nothing"
        let version = object["version"]?.integerValue.map { ", version \($0)" } ?? ""
        let place = "\(files)\(version) in place"
        guard let time = last["time"]?.stringValue else { return "the server has not been asked; \(place)" }
        if let fault { return "\(fault) (\(time)); \(place)" }
        if last["outcome"] == "unreachable" {
            return "the server does not answer (\(time)): \(last["says"]?.stringValue ?? ""); \(place)"
        }
        return "the server was asked at \(time); \(place)"
    }

    /// For the doctor: a device without a network is not broken.
    var finding: Finding {
        let state: Finding.State = fault != nil ? .error : isOK && !last.isEmpty ? .ok : .warning
        return Finding("procedures", state, text, fix: state == .ok ? nil : "sudo quickconnect procedure sync")
    }
}
