import ArgumentParser
import CommandLineText
import Glibc
import Layout
import Linux

struct SetupCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "setup",
        abstract: "Sets up this device for one purpose, checks that it works, and takes that back again.",
        discussion: """
            Writes files of its own beside the settings and mappings, and says each line. Your own files stay as they are.

            Examples:
              sudo quickconnect setup home             pages for a person at home, with a log-in for a telephone
              sudo quickconnect setup kiosk /srv/page  shows a page on the whole screen, from power-on
              sudo quickconnect setup kiosk --undo
            """,
        subcommands: [SetupHomeCommand.self, SetupKioskCommand.self]
    )
}

/// What each set-up takes.
struct SetupOptions: ParsableArguments {
    @OptionGroup var connection: ConnectionOptions

    @Option(help: ArgumentHelp("The settings file, beside whose folders it writes.", valueName: "FILE"))
    var config: String?

    @Flag(help: "Removes what was written, and switches off what was switched on.")
    var undo = false
}

/// Where a set-up writes, and what runs there.
struct SetupPlace {
    /// The main file of the settings. It need not exist, unless it was named.
    let config: String
    private let isNamed: Bool
    let folder: String
    /// The units that systemd runs for it; nil where the programs are started by hand.
    let units: SystemdUnits?

    /// - Parameters:
    ///   - purpose: what is typed behind `setup`.
    ///   - isForUsers: whether an ordinary user may set that up beside the system's daemon.
    init(_ options: SetupOptions, _ purpose: String, isForUsers: Bool) throws {
        let environment = OwnProcess.environment
        let named = options.config ?? environment["QUICKCONNECT_CONFIG"].flatMap { $0.isEmpty ? nil : $0 }
        let isRoot = geteuid() == 0
        let folders = StandardFolders(isRoot: isRoot, environment: environment, program: OwnProcess.program)
        config = Folders.absolute(named ?? folders.config)
        isNamed = named != nil
        folder = Folders.parent(of: config) ?? "/"
        let system = isNamed ? nil : SystemdUnits(user: false)
        guard system != nil, !isRoot else {
            units = system
            return
        }
        guard isForUsers else {
            let message = "a set-up of this device is for root: «sudo quickconnect setup \(purpose)»"
            throw ExitError(message: message, status: 1)
        }
        units = SystemdUnits(user: true)
    }

    /// What the daemon says of settings and mappings; nil if they have no mistake.
    func mistakes() throws -> String? {
        let program = Program.installed("quickconnectd")
        let arguments = ["--check"] + (isNamed ? ["--config", config] : [])
        guard let outcome = Program.run(program, arguments, takesErrors: true) else {
            throw ExitError(message: OwnPrograms.failure("quickconnectd", ENOENT), status: 1)
        }
        return outcome.status == 0 ? nil : outcome.output
    }
}

/// Units of systemd. Each command is said before it runs.
struct SystemdUnits {
    private let isUsers: Bool

    /// Nil if systemd does not run here, or has no unit of the daemon.
    init?(user isUsers: Bool) {
        self.isUsers = isUsers
        guard FileText.exists("/run/systemd/system"),
            Program.run("systemctl", ["cat", "quickconnectd.service"], takesErrors: true)?.status == 0
        else { return nil }
    }

    func run(_ words: String...) throws {
        let arguments = (isUsers ? ["--user"] : []) + words
        let command = (["systemctl"] + arguments).joined(separator: " ")
        say("  \(command)")
        guard let outcome = Program.run("systemctl", arguments, takesErrors: true) else {
            throw ExitError(message: "systemctl cannot be run", status: 1)
        }
        guard outcome.status == 0 else {
            throw ExitError(message: "«\(command)» failed: \(outcome.output)", status: 1)
        }
    }

    func isActive(_ unit: String) -> Bool {
        let arguments = (isUsers ? ["--user"] : []) + ["is-active", "--quiet", unit]
        return Program.run("systemctl", arguments, takesErrors: true)?.status == 0
    }
}

/// Questions to the person at the terminal.
enum SetupQuestion {
    static var isPossible: Bool { isatty(STDIN_FILENO) == 1 && isatty(STDOUT_FILENO) == 1 }

    /// - Returns: what was typed; nil for a line without anything.
    static func ask(_ text: String) -> String? {
        write("\(text) ", to: STDOUT_FILENO)
        guard let line = readLine(), !line.isEmpty else { return nil }
        return line
    }
}
