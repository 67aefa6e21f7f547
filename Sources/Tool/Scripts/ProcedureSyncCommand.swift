import ArgumentParser
import CommandLineText
import Glibc
import JSON
import Linux

struct ProcedureSyncCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sync",
        abstract: "Fetches stored procedures from the server in the settings, and installs them.",
        discussion: """
            Either all fetched procedures are replaced, or none. As root it starts the service quickconnect-sync.

            Exit status: 0 the procedures are up to date, 1 they are not, and the previous ones stay.
            """
    )

    @OptionGroup var connection: ConnectionOptions

    @Flag(help: "Print what would change, and change nothing.")
    var dryRun = false

    @Option(help: ArgumentHelp("The settings file.", valueName: "FILE"))
    var config: String?

    func run() throws {
        let sync = try state("list").objectValue?["sync"]
        guard let folder = sync?.objectValue?["folder"]?.stringValue else {
            throw ExitError(message: "the settings name no server (procedures: sync)", status: 1)
        }
        guard Self.mayWrite(folder) else {
            throw ExitError(message: "\(folder) is another user's: use sudo", status: 1)
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
        let isService = geteuid() == 0 && !dryRun && config == nil && FileText.exists("/run/systemd/system")
        if isService { return Self.wait(for: "systemctl", ["start", "quickconnect-sync.service"]) }
        let words = (config.map { ["--config", $0] } ?? []) + (dryRun ? ["--dry-run"] : [])
        return Self.wait(for: Program.installed("quickconnect-sync"), words)
    }

    /// Runs a program with the same output as this one.
    private static func wait(for program: String, _ words: [String]) -> Int32 {
        var arguments = ([program] + words).map { strdup($0) } + [nil]
        defer { for argument in arguments { free(argument) } }
        var child: pid_t = 0
        let code = posix_spawnp(&child, program, nil, nil, &arguments, environ)
        guard code == 0 else {
            Descriptor.write("\(program) cannot be run: \(SystemCallError.text(code))\n", to: STDERR_FILENO)
            return 1
        }
        var status: Int32 = 0
        while waitpid(child, &status, 0) < 0, errno == EINTR {}
        return status == 0 ? 0 : 1
    }
}
