import CLinux
import Commands
import Concurrency
import Configuration
import Glibc
import JSON
import Linux
import Logging
import QuickConnect
import Runtime

/// The wiring: settings → devices → command objects → mappings → front controller → listener.
struct Daemon {
    let settings: Settings
    private let journal: Journal
    /// Reads the settings again.
    private let reread: Reloader.SettingsReading
    let accounts = SystemAccounts()

    /// After this time the start and the first waiting calls are assumed to be done.
    private static let settleTime = Duration.seconds(3)

    init(_ settings: Settings, journal: Journal, reread: Reloader.SettingsReading? = nil) {
        self.settings = settings
        self.journal = journal
        journal.level = Self.level(settings)
        self.reread = reread ?? { (settings, []) }
    }

    /// The mappings as a table, with what is only a warning. Touches no device.
    func loadTable() throws(ConfigurationMistakes) -> (table: MappingTable, warnings: [ConfigurationMistake]) {
        let devices = Devices(settings, sounds: nil, logger: logger)
        let permissions = Permissions(ownUID: geteuid())
        let router = makeRouter(WaitingCalls(clock: AlarmThread.shared), permissions, nil, observer: nil)
        let gateways = Sockets(settings, accounts).gateways
        let catalog = catalog(devices, [:], router, permissions, gateways)
        return try MappingLoader(settings, accounts).load(catalog, router)
    }

    /// Runs until SIGTERM or SIGINT.
    func run(in context: ProcessContext) async -> Int32 {
        let log = logger("quickconnectd")
        log.debug("up to \(DescriptorLimit.raise()) descriptors")
        for missing in Self.missingFolder(context.environment) { log.warning("\(missing)") }
        let devices = Devices(settings, sounds: settings.sounds, logger: logger)
        return await status(log, context) {
            let loop = try Loop()
            try loop.start("qc-loop")
            let ended = await result { try await serve(devices, loop, context, log) }
            // However it has ended: a motor must not go on, and a recording must be whole.
            await devices.close()
            await loop.close()
            return try ended.get()
        }
    }

    private func result<Value>(of body: () async throws -> Value) async -> Result<Value, any Error> {
        do { return .success(try await body()) } catch { return .failure(error) }
    }

    /// The exit status of what `serve` does; its error is told.
    private func status(
        _ log: Logger,
        _ context: ProcessContext,
        of serve: () async throws -> Int32
    ) async -> Int32 {
        do {
            return try await serve()
        } catch let error as ConfigurationMistakes {
            Main.report(error, context.environment)
            return ExitStatus.mistake
        } catch {
            log.critical("\(error)")
            return ExitStatus.failed
        }
    }

    private func serve(
        _ devices: Devices,
        _ loop: Loop,
        _ context: ProcessContext,
        _ log: Logger
    ) async throws -> Int32 {
        let environment = context.environment
        let manager = ServiceManager(environment: environment)
        let waitingCalls = WaitingCalls(clock: AlarmThread.shared)
        let status = StatusLine(manager, devices.all, clock: AlarmThread.shared)
        let permissions = Permissions(ownUID: geteuid(), handlerCommands: handlerRule(settings, log))
        let valueFile = ValueFile(path: settings.values, clock: AlarmThread.shared, logger: log)
        defer { valueFile.write() }
        let audit = auditLog(status, log)
        let router = makeRouter(waitingCalls, permissions, valueFile, observer: audit)
        let controller = router.frontController
        let sockets = Sockets(settings, accounts, environment, defaultSocket: context.defaultSocket)
        let scheduler = Scheduler(settings, logger: log)
        let hardware = DeclaredHardware(devices, router, logger: logger("hardware"))
        let loader = MappingLoader(settings, accounts, scheduler, hardware)
        let reloader = reloader(loader, router, permissions, audit, sockets, log)
        let catalog = catalog(
            devices,
            environment,
            router,
            permissions,
            sockets.gateways,
            reloader,
            examined: [ScheduleDoctor(scheduler: scheduler, isService: manager.isThere)]
                + hardware.examined(startsAtBoot: { !manager.isThere || ScheduleDoctor.startsAtBoot }),
            simulated: hardware.simulated,
            schedule: { scheduler.report(of: $0)?.json }
        )
        try reloader.start(router, catalog)
        for line in devices.simulationNotes { log.notice("\(line)") }
        for source in devices.events { router.events.add(source) }
        await devices.sound.prepare(log)

        // Before anybody can ask for a run.
        scheduler.prepare(on: loop, router)
        let listener = listener(loop, router, waitingCalls, sockets, status, log) {
            manager.ready(status.line)
            Heartbeat(manager, context.pool, status, logger: log, beside: scheduler.checkSurroundings).start(on: loop)
            scheduler.start(on: loop)
        }
        status.show(controller, listener)
        router.connections.show(listener)
        let ended = await result {
            try await run(waitingCalls, reloader, listener, context.signals) {
                manager.stopping("waiting for running calls to finish")
            }
        }
        await scheduler.stop()
        // However it has ended, a motor must not go on.
        await hardware.close()
        try ended.get()
        log.info("stopped")
        return ExitStatus.clean
    }

    private func auditLog(_ status: StatusLine, _ log: Logger) -> AuditLog {
        AuditLog(
            isOn: settings.audit,
            write: { [journal] in journal.write($0, level: .notice) },
            failures: FailureLogger(logger: log),
            clock: AlarmThread.shared,
            changed: { status.changed() }
        )
    }

    /// What a reload takes up, besides mappings.
    private func reloader(
        _ loader: MappingLoader,
        _ router: Router,
        _ permissions: Permissions,
        _ audit: AuditLog,
        _ sockets: Sockets,
        _ log: Logger
    ) -> Reloader {
        Reloader(
            loader,
            settings,
            read: reread,
            examine: warnings,
            adopt: { new in
                journal.level = Self.level(new)
                audit.turn(on: new.audit)
                router.replaceLimits(new.limits)
                permissions.replaceHandlerCommands(handlerRule(new, log))
                sockets.adoptLists(of: new)
            },
            logger: log
        )
    }

    private func listener(
        _ loop: Loop,
        _ router: Router,
        _ waitingCalls: WaitingCalls,
        _ sockets: Sockets,
        _ status: StatusLine,
        _ log: Logger,
        isListening: @escaping @Sendable () -> Void
    ) -> UnixSocketListener {
        UnixSocketListener(
            loop: loop,
            router: router,
            waitingCalls: waitingCalls,
            logger: logger("listener"),
            userName: { [accounts] in accounts.name(ofUser: $0) },
            makeEndpoints: { try sockets.endpoints { log.error("\($0)") } },
            isListening: {
                isListening()
                // Half of what a start uses is not needed again: flags, YAML, metadata. While it is mapped, it stays in
                // memory.
                AlarmThread.shared.ring(after: Self.settleTime) { qc_release_code() }
            },
            connectionsChanged: { status.changed() },
            giveBackMemory: { qc_trim_memory() }
        )
    }

    /// Runs the services until a signal says stop.
    private func run(
        _ waitingCalls: WaitingCalls,
        _ reloader: Reloader,
        _ listener: UnixSocketListener,
        _ signals: Signals,
        _ isStopping: @escaping @Sendable () -> Void
    ) async throws {
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            tasks.addTask { await waitingCalls.run() }
            tasks.addTask {
                for await _ in signals.hangUps {
                    // Errors are in the log; nobody else asked.
                    _ = try? await reloader.reload()
                }
            }
            tasks.addTask {
                // Cancelled if the listener ends by itself, with an error.
                guard (try? await signals.stop.value()) != nil else { return }
                isStopping()
                listener.stop()
            }
            defer {
                signals.endHangUps()
                waitingCalls.finish()
                tasks.cancelAll()
            }
            try await listener.run()
        }
        await reloader.close()
    }

    private func makeRouter(
        _ waitingCalls: WaitingCalls,
        _ permissions: Permissions,
        _ valueKeeper: (any ValueKeeper)?,
        observer: (any CallObserver)?
    ) -> Router {
        let memory = PeerMemory(limits: settings.limits, ownUID: geteuid())
        let events = EventHub(limits: settings.limits, memory: memory)
        let handlers = HandlerRegistry(permissions: permissions, events: events, limits: settings.limits)
        let controller = FrontController(
            table: MappingTable(),
            handlers: handlers,
            permissions: permissions,
            limits: settings.limits,
            waitingCalls: waitingCalls,
            observer: observer
        )
        return Router(controller, handlers, events, ValueStore(events, keeper: valueKeeper))
    }

    private func catalog(
        _ devices: Devices,
        _ environment: [String: String],
        _ router: Router,
        _ permissions: Permissions,
        _ gateways: [SocketRule],
        _ reloader: Reloader? = nil,
        examined: [any Examined] = [],
        simulated: SimulatedHardware = .none,
        schedule: @escaping @Sendable (String) -> JSONValue? = { _ in nil }
    ) -> [String: any CommandObject] {
        Catalog.make(
            Dependencies(
                router: router,
                permissions: permissions,
                gateways: gateways,
                devices: devices,
                simulated: simulated,
                examined: [
                    DaemonDoctor(memory: router.memory, mappings: settings.mappingFolders, reloader: reloader),
                    FilesDoctor(reloader: reloader),
                    gatewayDoctor(gateways) { router.frontController.currentTable.entries },
                    NamesDoctor(settings) { router.frontController.currentTable.entries },
                    RecordingDoctor(reloader: reloader) { router.handlers.has("data") },
                ] + examined + devices.examined(environment),
                accounts: BackgroundAccounts(accounts: accounts),
                identity: Identity(version: ProjectVersion.text, simulated: settings.simulate ? Devices.simulated : []),
                schedule: schedule,
                now: { WallClock.now },
                logger: logger("script"),
                registered: { reloader?.note($0, of: $1) },
                reload: { () async throws(CommandError) in try await reloader?.reload() ?? Reloaded() }
            )
        )
    }

    func gatewayDoctor(
        _ gateways: [SocketRule],
        _ entries: @escaping @Sendable () -> [MappingEntry]
    ) -> GatewayDoctor {
        GatewayDoctor(
            sockets: gateways,
            shipped: settings.mappings.count > 1 ? settings.mappings.first?.path : nil,
            entries: entries
        )
    }

    private func handlerRule(_ settings: Settings, _ log: Logger) -> AllowRule? {
        guard let allow = settings.handlerCommands else { return accounts.rule(forUser: Settings.scriptUser) }
        let (rule, warnings) = AllowRule.resolve(allow, accounts)
        for warning in warnings { log.warning("\(warning)") }
        return rule
    }

    private func logger(_ label: String) -> Logger {
        Logger(label: label) { JournalLogHandler(journal: journal, label: $0) }
    }

    private static func level(_ settings: Settings) -> Logger.Level {
        Logger.Level(rawValue: settings.logLevel) ?? .info
    }
}

/// Looks users up on a thread that may block.
private struct BackgroundAccounts: UserAccounts {
    let accounts: SystemAccounts
    private let thread = SideThread<Void>("qc-accounts", wake: {})

    func caller(forUser name: String) async -> Caller? {
        let caller = Promise<Caller?>()
        thread.run(for: name) { caller.fulfil(accounts.caller(forUser: name)) }
        return try? await caller.value()
    }
}
