import ArgumentParser
import CommandLineText
import Configuration
import Glibc
import Linux
import ProcedureSets
import QuickConnect

/// Fetches stored procedures. It has access to the network but not to the data; the program that runs them has access
/// to the data but not to the network.
@main
struct QuickConnectSync: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "quickconnect-sync",
        abstract: "Fetches stored procedures from the server in the settings.",
        discussion: """
            It stores them in a separate folder beside the data, as a complete set. The service quickconnect-data checks \
            this set, and uses all of it or nothing. «quickconnect procedure sync» does both.

            As root it becomes the user quickconnect-sync.

            Exit status: 0 the procedures are up to date, 1 they are not, 2 wrong usage or settings.
            """,
        version: ProjectVersion.text
    )

    @Option(help: ArgumentHelp("The settings file.", valueName: "FILE"))
    var config: String?

    @Flag(help: "Print what would change, and change nothing.")
    var dryRun = false

    @Option(help: ArgumentHelp("How many times to try again if the server does not answer.", valueName: "NUMBER"))
    var retries = 0

    @Option(help: ArgumentHelp("How many seconds to wait for a server that sends nothing.", valueName: "SECONDS"))
    var patience = 30

    static func main() { start() }

    func validate() throws {
        guard (0...100).contains(retries) else { throw ValidationError("--retries must be from 0 to 100.") }
        guard (1...3600).contains(patience) else { throw ValidationError("--patience must be from 1 to 3600.") }
    }

    func run() throws {
        let environment = OwnProcess.environment
        let folders = StandardFolders(environment, service: "quickconnect-sync")
        let all = try Settings.load(flags: [.config: config], environment: environment, folders: folders)
        let settings = all.procedureSettings
        guard let server = settings.sync else { fail("the settings name no server (procedures: sync)", 2) }
        // Before it becomes another user, who may not read root's file.
        let token: String?
        do throws(PlainError) {
            token = try SyncToken.read(environment, file: folders.syncToken)
        } catch {
            fail(error.description, 2)
        }
        if token != nil, server.hasPrefix("http:"), !settings.isSyncLocal {
            fail("a token is only sent over https:, and procedures: sync is \(server)", 2)
        }
        Glibc.exit(sync(server, settings, folders.fetched, token))
    }

    private func sync(_ server: String, _ settings: ProcedureSettings, _ root: String, _ token: String?) -> Int32 {
        do throws(SystemCallError) {
            // The group may read: the user that runs procedures is in it.
            umask(0o027)
            try OwnFolder.prepare(root, isNamed: OwnProcess.environment["STATE_DIRECTORY"] != nil)
            // Others wait until this one has fetched.
            let lock = try FileLock.take("\(root)/lock")
            defer { close(lock) }
            guard let client = WebClient(token: token, patience: patience) else { fail("libcurl cannot be used", 1) }
            let sync = ProcedureSync(server: server, settings, client, root: root) {
                Descriptor.write("\($0.escapingControls)\n", to: STDOUT_FILENO)
            }
            let report = sync.run(retries: retries, isDry: dryRun)
            if !dryRun { try report.write(in: root) }
            return print(report)
        } catch {
            fail("\(root): \(error)", 1)
        }
    }

    private func print(_ report: SyncReport) -> Int32 {
        switch report.outcome {
        case .changed, .unchanged:
            Descriptor.write("\(report.server): \(report.says.escapingControls)\n", to: STDOUT_FILENO)
            return 0
        case .unreachable, .refused: fail("\(report.outcome.rawValue): \(report.says.escapingControls)", 1)
        }
    }

    private func fail(_ message: String, _ status: Int32) -> Never {
        Descriptor.write("quickconnect-sync: \(message)\n", to: STDERR_FILENO)
        Glibc.exit(status)
    }
}
