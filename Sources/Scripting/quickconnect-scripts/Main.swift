import ArgumentParser
import CommandLineText
import Configuration
import Glibc
import Linux
import Procedures
import QuickConnect
import QuickConnectClient

/// The script host. With a FILE it runs that script; without, it starts a process for each script of a folder.
@main
struct QuickConnectScripts: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "quickconnect-scripts",
        abstract: "Runs JavaScript that drives this device's hardware through the daemon quickconnectd.",
        usage: """
            quickconnect-scripts [--socket <PATH>] [--config <FILE>] [--scripts <FOLDER>] [--macros <FOLDER>]
            quickconnect-scripts [--socket <PATH>] [--config <FILE>] FILE [ARGUMENT ...]
            quickconnect-scripts --procedures [--socket <PATH>] [--config <FILE>] [--procedure-folder <FOLDER>]
            """,
        discussion: """
            Without FILE it runs each *.js file of the scripts' folder in a separate process, restarts those that \
            fail, and starts the new version of a changed file. «quickconnect scripts» lists them. The macros share one \
            more process; «quickconnect macro» lists them.

            With --procedures it runs stored procedures when they are called, each in a separate process, and records the \
            data for them: «quickconnect procedure list», «quickconnect data info».

            Options come before FILE; everything after it is an argument of the script.

            Exit status: 0 the script ended, 1 an unhandled error, a limit that it exceeded, or a refused handler, 2 \
            wrong usage, settings or an unreadable file, 3 it made a call and no daemon answers.
            """,
        version: ProjectVersion.text
    )

    @Option(help: ArgumentHelp("\(SocketPaths.help)", valueName: "PATH"))
    var socket: String?

    @Option(help: ArgumentHelp("The settings file.", valueName: "FILE"))
    var config: String?

    @Option(help: ArgumentHelp("The folder of the scripts.", valueName: "FOLDER"))
    var scripts: String?

    @Option(help: ArgumentHelp("The folder of the owner's macros.", valueName: "FOLDER"))
    var macros: String?

    /// The host starts itself with it, once for all macros.
    @Flag(help: .hidden)
    var runMacros = false

    @Flag(help: "Run stored procedures and record their data, instead of scripts and macros.")
    var procedures = false

    @Option(help: ArgumentHelp("The folder of the owner's procedures.", valueName: "FOLDER"))
    var procedureFolder: String?

    @Option(
        help: ArgumentHelp("Run a procedure with its test cases NAME.test.json, without a daemon.", valueName: "NAME")
    )
    var testProcedure: [String] = []

    /// A test starts itself with it: where its cases' data lie.
    @Option(help: .hidden)
    var testFolder: String?

    /// The host of procedures starts itself with it.
    @Flag(help: .hidden)
    var runProcedures = false

    /// The host of procedures starts itself with it, for a set that was fetched.
    @Option(help: .hidden)
    var checkSet: String?

    /// Whoever has texts to check starts it with that (``CheckProcess``).
    @Flag(help: .hidden)
    var checkTexts = false

    @Argument(
        parsing: .captureForPassthrough,
        help: ArgumentHelp("A script, and its arguments.", valueName: "FILE [ARGUMENT…]")
    )
    var words: [String] = []

    static func main() { start() }

    func run() throws {
        let environment = OwnProcess.environment
        if words.first == "--help" || words.first == "-h" { throw CleanExit.helpRequest(self) }
        if words.first == "--version" { throw CleanExit.message(Self.configuration.version) }
        if let word = words.first, word.hasPrefix("-") { throw ValidationError("Unknown option '\(word)'.") }
        if checkTexts { Glibc.exit(TextCheck.run(environment)) }
        if let checkSet { Glibc.exit(Self.checkSet(checkSet)) }
        let settings = try loadSettings(environment)
        if !testProcedure.isEmpty { Glibc.exit(testProcedures(settings, environment)) }
        if runProcedures { Glibc.exit(procedureWorker(settings, environment)) }
        let paths = SocketPaths.candidates(named: socket ?? settings.socket, environment: environment)
        if procedures { Glibc.exit(try procedureHost(settings, paths, environment)) }
        guard runMacros || !words.isEmpty else { Glibc.exit(try host(settings, paths, environment).run()) }
        let folders = macroFolders(environment)
        let source = ScriptSource(
            path: words.first ?? "\(folders.configuration)/macros",
            arguments: Array(words.dropFirst())
        )
        let runner = ScriptRunner(
            source,
            settings.scriptLimits,
            settings.limits,
            paths: paths,
            channel: Self.channel(environment),
            macros: runMacros ? folders : nil
        )
        Glibc.exit(runner.run())
    }

    private func folders(_ environment: [String: String]) -> StandardFolders {
        StandardFolders(environment, service: "quickconnect-scripts")
    }

    private func macroFolders(_ environment: [String: String]) -> MacroFolders {
        let folders = folders(environment)
        return MacroFolders(
            configuration: macros ?? folders.macros,
            saved: "\(folders.state)/macros",
            shipped: folders.shippedMacros,
            versions: "\(folders.state)/macro-versions"
        )
    }

    func loadSettings(_ environment: [String: String]) throws(ConfigurationMistakes) -> Settings {
        let flags: Settings.Overrides = [.config: config, .scripts: scripts]
        var settings = try Settings.load(flags: flags, environment: environment, folders: folders(environment))
        // The daemon's environment names its socket, which the client's rule looks at itself.
        if environment["QUICKCONNECT_SOCKET"] != nil { settings.socket = nil }
        return settings
    }

    private func host(
        _ settings: Settings,
        _ paths: [String],
        _ environment: [String: String]
    ) throws -> ScriptHost {
        var status = stat()
        for folder in [scripts, macros].compactMap({ $0 })
        where stat(folder, &status) != 0 || status.st_mode & S_IFMT != S_IFDIR {
            throw ValidationError("There is no folder '\(folder)'.")
        }
        var command = [OwnProcess.program]
        if let socket { command += ["--socket", socket] }
        if let config { command += ["--config", config] }
        return try ScriptHost(
            folder: settings.scripts,
            limits: settings.scriptLimits,
            paths: paths,
            command: command,
            macros: (macroFolders(environment), command + (macros.map { ["--macros", $0] } ?? []) + ["--run-macros"]),
            environment: environment
        )
    }

    /// The socket to the host that started this process, if there is one.
    private static func channel(_ environment: [String: String]) -> HostChannel? {
        guard let host = environment[HostChannel.hostVariable].flatMap({ pid_t($0) }), host == getppid() else {
            return nil
        }
        return HostChannel(ofHost: host)
    }
}
