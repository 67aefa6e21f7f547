import ALSAAudio
import Commands
import Configuration
import Glibc
import Logging
import NIOPosix
import QuickConnect
import ServiceLifecycle
import UnixSignals
import UnixSocketListener

/// The wiring: settings → devices → command objects → mappings → front controller → listener.
struct Daemon {
    private let settings: Settings
    private let journal: Journal
    private let accounts = SystemAccounts()

    init(_ settings: Settings, journal: Journal) {
        self.settings = settings
        self.journal = journal
    }

    /// Checks the mappings, and touches no device.
    func check() -> Int32 {
        do throws(ConfigurationMistakes) {
            let (table, warnings) = try loadTable()
            for warning in warnings { print("warning: \(warning)", to: &standardError) }
            print("The settings and the mappings of \(table.entries.count) commands are right.")
            return ExitStatus.clean
        } catch {
            print(error.description, to: &standardError)
            return ExitStatus.mistake
        }
    }

    /// The mappings as a table, with what is only a warning. Touches no device.
    func loadTable() throws(ConfigurationMistakes) -> (table: MappingTable, warnings: [ConfigurationMistake]) {
        let sound = SoundDevices(settings, sounds: nil, logger: logger("sound"))
        return try Tables(settings, accounts).load(catalog(sound, [:], reload: {}), HandlerRegistry.none)
    }

    /// Runs until SIGTERM or SIGINT.
    func run(defaultSocket: String, _ environment: [String: String]) async -> Int32 {
        let log = logger("quickconnectd")
        signal(SIGPIPE, SIG_IGN)
        // Until the mappings are loaded for the first time there is nothing to reload.
        signal(SIGHUP, SIG_IGN)
        log.debug("up to \(raiseDescriptorLimit()) descriptors")
        do {
            let sound = SoundDevices(settings, sounds: settings.sounds, logger: logger("sound"))
            let status = try await serve(sound, defaultSocket, environment, log)
            await sound.close()
            return status
        } catch let error as ConfigurationMistakes {
            print(error.description, to: &standardError)
            return ExitStatus.mistake
        } catch {
            log.critical("\(error)")
            return ExitStatus.failed
        }
    }

    private func serve(
        _ sound: SoundDevices,
        _ defaultSocket: String,
        _ environment: [String: String],
        _ log: Logger
    ) async throws -> Int32 {
        let waitingCalls = WaitingCalls()
        let tables = Tables(settings, accounts)
        let reloader = Reloader(tables, logger: log)
        let controller = FrontController(
            table: MappingTable(),
            handlerRule: handlerRule(log),
            ownUID: geteuid(),
            limits: settings.limits,
            waitingCalls: waitingCalls,
            observer: FailureLogger(logger: log)
        )
        let catalog = catalog(sound, environment) { () async throws(CommandError) in try await reloader.reload() }
        try reloader.start(controller, catalog)
        for line in sound.simulationNotes { log.notice("\(line)") }
        for source in sound.events { controller.events.add(source) }
        await sound.prepare(log)

        let listener = UnixSocketListener(
            frontController: controller,
            waitingCalls: waitingCalls,
            logger: logger("listener"),
            makeSocket: { try listeningSocket(defaultSocket, environment) }
        )
        // Ended in reverse: the listener first, which needs the calls to end.
        let services: [any Service] = [
            WaitingCallsService(calls: waitingCalls), HangUpService(reloader: reloader), listener,
        ]
        let group = ServiceGroup(
            configuration: ServiceGroupConfiguration(
                services: services,
                gracefulShutdownSignals: [.sigterm, .sigint],
                logger: logger("services")
            )
        )
        try await group.run()
        log.info("stopped")
        return ExitStatus.clean
    }

    private func catalog(
        _ sound: SoundDevices,
        _ environment: [String: String],
        reload: @escaping @Sendable () async throws(CommandError) -> Void
    ) -> [String: any CommandObject] {
        Catalog.make(
            Parts(
                soundPlayer: sound.player,
                filePlayer: sound.filePlayer,
                recorder: sound.recorder,
                mediaLibrary: sound.library,
                volumeControl: sound.volume,
                examined: [DaemonDoctor()] + sound.examined(environment),
                accounts: BackgroundAccounts(accounts: accounts),
                identity: Identity(version: version, simulated: settings.simulate ? ["sound"] : []),
                logger: logger("script"),
                reload: reload
            )
        )
    }

    private func listeningSocket(_ defaultSocket: String, _ environment: [String: String]) throws -> ListeningSocket {
        if let path = settings.socket { return try ListeningSocket.bind(path: path) }
        if let passed = try ListeningSocket.passedBySystemd(environment: environment) { return passed }
        return try ListeningSocket.bind(path: defaultSocket)
    }

    private func handlerRule(_ log: Logger) -> AllowRule? {
        settings.handlerCommands.map { allow in
            let (rule, warnings) = AllowRule.resolve(allow, accounts)
            for warning in warnings { log.warning("\(warning)") }
            return rule
        }
    }

    private func logger(_ label: String) -> Logger {
        let level = Logger.Level(rawValue: settings.logLevel) ?? .info
        return Logger(label: label) { JournalLogHandler(journal: journal, label: $0, logLevel: level) }
    }
}

/// Runs the waiting calls as a service. The listener ends them; the service group expects it to last until asked.
private struct WaitingCallsService: Service {
    let calls: WaitingCalls

    func run() async throws {
        await calls.run()
        try await gracefulShutdown()
    }
}

/// Looks users up on a thread where it may block.
private struct BackgroundAccounts: UserAccounts {
    let accounts: SystemAccounts

    func caller(forUser name: String) async -> Caller? {
        try? await NIOThreadPool.singleton.runIfActive { accounts.caller(forUser: name) }
    }
}
