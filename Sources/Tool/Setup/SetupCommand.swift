import ArgumentParser
import CommandLineText
import Configuration
import Glibc
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
              sudo quickconnect setup gpio             lets the service use GPIO lines, LEDs and pulses
              sudo quickconnect setup readers          lets the service read the readers and keys of its mappings
            """,
        subcommands: [SetupHomeCommand.self, SetupKioskCommand.self, SetupGPIOCommand.self, SetupReadersCommand.self]
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
    /// The main file of the settings. It need not exist.
    let config: String
    private let isNamed: Bool
    let folder: String
    /// The units that systemd runs for it; nil where the programs are started by hand.
    let units: SystemdUnits?
    /// The environment of what reads these settings. Without the variable, the folders beside a named file would be nobody's.
    private let environment: [String: String]
    /// What it says beyond this process's, as a shell writes it before a command; else empty.
    let variable: String

    /// - Parameters:
    ///   - purpose: what is typed behind `setup`.
    ///   - isForUsers: whether an ordinary user may set that up beside the system's daemon.
    init(_ options: SetupOptions, _ purpose: String, isForUsers: Bool) throws {
        var environment = OwnProcess.environment
        let named = options.config ?? environment["QUICKCONNECT_CONFIG"].flatMap { $0.isEmpty ? nil : $0 }
        let isRoot = geteuid() == 0
        config = Folders.absolute(named ?? StandardFolders().config)
        isNamed = named != nil
        folder = Folders.parent(of: config) ?? "/"
        let key = "CONFIGURATION_DIRECTORY"
        let isElsewhere = environment[key] == nil && config != StandardFolders().config
        variable = isElsewhere ? "\(key)=\(folder.shellWord) " : ""
        if isElsewhere { environment[key] = folder }
        self.environment = environment
        let system = isNamed ? nil : SystemdUnits(user: false)
        guard system != nil, !isRoot else {
            units = system
            return
        }
        guard isForUsers else {
            let message = "a set-up of this device is for root: «sudo quickconnect setup \(purpose)»"
            throw ExitError(message: message)
        }
        units = SystemdUnits(user: true)
    }

    /// Makes the file of settings that was named, if it is not there yet: the daemon wants it, too.
    func makeConfig() throws {
        guard isNamed, !FileText.exists(config) else { return }
        try LocalFile.change(config) { () throws(SystemCallError) in
            try FileText.replace(config, with: "# The settings of quickconnectd: man quickconnectd.yaml\n", mode: 0o644)
        }
        say("  \(config): new, without a setting")
    }

    /// The folder of the owner's mappings that the daemon reads; nil: it reads none but the shipped ones.
    var mappings: String? {
        let flags: Settings.Overrides = isNamed ? [.config: config] : [:]
        let folders = StandardFolders(environment)
        let read = Settings.read(flags: flags, environment: environment, folders: folders).settings.mappings
        return read.map(\.path).last { $0 != folders.mappings[0] }
    }

    /// What the daemon says of settings and mappings; nil if they have no mistake.
    func mistakes() throws -> String? {
        let program = Program.installed("quickconnectd")
        let arguments = ["--check"] + (isNamed ? ["--config", config] : [])
        guard let outcome = Program.run(program, arguments, environment: environment, takesErrors: true) else {
            throw ExitError(message: OwnPrograms.failure("quickconnectd", ENOENT))
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
        guard ServiceManager.isRunning,
            Program.run("systemctl", ["cat", "quickconnectd.service"], takesErrors: true)?.status == 0
        else { return nil }
    }

    func run(_ words: String...) throws {
        try runAloud("systemctl", (isUsers ? ["--user"] : []) + words)
    }

    func isActive(_ unit: String) -> Bool {
        let arguments = (isUsers ? ["--user"] : []) + ["is-active", "--quiet", unit]
        return Program.run("systemctl", arguments, takesErrors: true)?.status == 0
    }
}

/// Says a command, and runs it. Throws what it printed if it fails.
func runAloud(_ program: String, _ arguments: String...) throws { try runAloud(program, arguments) }

func runAloud(_ program: String, _ arguments: [String]) throws {
    let command = ([program] + arguments).joined(separator: " ")
    say("  \(command)")
    guard let outcome = Program.run(program, arguments, takesErrors: true) else {
        throw ExitError(message: "\(program) cannot be run")
    }
    guard outcome.status == 0 else { throw ExitError(message: "«\(command)» failed: \(outcome.output)") }
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

    /// Asks until the answer is clear: what it decides must not be an accident.
    /// - Parameter isYes: what a line without anything means.
    static func confirm(_ text: String, isYes: Bool) -> Bool {
        let choice = isYes ? "[Y/n]" : "[y/N]"
        while let answer = ask("\(text) \(choice)") {
            switch answer.lowercased().filter({ !$0.isWhitespace }) {
            case "y", "yes": return true
            case "n", "no": return false
            default: say("Please answer y or n; Enter alone is \(isYes ? "y" : "n").")
            }
        }
        return isYes
    }
}
