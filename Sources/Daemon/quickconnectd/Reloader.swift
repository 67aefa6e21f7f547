import Commands
import Concurrency
import Configuration
import Glibc
import JSON
import Linux
import Logging
import Pins
import QuickConnect
import Synchronization

/// Reads the mappings when the daemon starts, at the command `reload`, and at SIGHUP, then with the settings, of which some
/// are taken up. A mistake in either keeps all as it was.
final class Reloader: Sendable {
    typealias SettingsReading = @Sendable () -> (settings: Settings, mistakes: [ConfigurationMistake])

    private struct Target {
        let router: Router
        let catalog: [String: any CommandObject]
    }

    private let loader: MappingLoader
    private let logger: Logger
    private let accounts = SystemAccounts()
    private let target = Mutex<Target?>(nil)
    /// One at a time, so that the last request takes effect last.
    private let thread = SideThread<Void>("qc-reload", wake: {})
    private let isOver = Atomic<Bool>(false)

    private let settings: Settings
    private let read: SettingsReading
    private let examine: @Sendable (Settings, MappingTable) -> [ConfigurationMistake]
    /// Takes up what of new settings can be, before the table.
    private let adopt: @Sendable (Settings) -> Void
    private let changed = Mutex<[String]>([])
    private let taken: TakenSettings
    /// The programs beside the daemon that read settings, by a handler of each.
    private static let programs = [
        "data": "quickconnect-data", "mqtt": "quickconnect-mqtt", "scriptHost": "quickconnect-scripts",
        "web": "quickconnect-web",
    ]
    /// The files whose content is in use, and what each was when it was read.
    private let used = Mutex<[String: String]>([:])

    /// The keys of the settings that the last reload found changed since the start of who reads them.
    var restart: [String] { changed.withLock { $0 } }

    /// The files that a reload would read, or miss, and that are not what the last one has read, sorted.
    func unread() async -> [String] {
        await look { settings in
            let (now, used) = (self.tags(settings), self.used.withLock { $0 })
            return Set(now.keys).union(used.keys).filter { now[$0] != used[$0] }.sorted()
        }
    }

    /// A handler has come. If it is that of a program that has just been started, the program has read the settings.
    func note(_ handler: String, of caller: Caller) {
        guard let program = Self.programs[handler], let pid = caller.pid else { return }
        thread.runFirst {
            // Where the mappings leave the name to anybody, a handler says nothing of the program.
            guard caller.isPrivileged(ownUID: geteuid()) || caller.uid == self.accounts.uid(ofUser: program) else {
                return
            }
            let (settings, mistakes) = self.read()
            guard mistakes.isEmpty else { return }
            self.taken.note(program, pid: pid, settings)
            let keys = self.taken.changes(of: program, in: settings) ?? []
            self.changed.withLock { $0 = ($0.filter { Settings.reader(of: $0) != program } + keys).sorted() }
        }
    }

    /// The keys that other settings set otherwise than who reads them has found at its start, sorted.
    private func changes(in new: Settings) -> [String] {
        let own = settings.changes(in: new).filter { taken.changes(of: Settings.reader(of: $0), in: new) == nil }
        let others = Self.programs.values.flatMap { taken.changes(of: $0, in: new) ?? [] }
        return (own + others).sorted()
    }

    /// The events that the settings name now to be recorded.
    func recorded() async -> [String] { await look { $0.procedureSettings.record.map(\.event) } }

    /// Finds something in the settings as they are now, where files are read: the threads of tasks are everybody's.
    private func look(_ find: @escaping @Sendable (Settings) -> [String]) async -> [String] {
        let found = Promise<[String]>()
        thread.run(for: "") { found.fulfil(find(self.read().settings)) }
        return (try? await found.value()) ?? []
    }

    private func tags(_ settings: Settings) -> [String: String] {
        (settings.files + loader.paths).reduce(into: [:]) { tags, path in
            var status = stat()
            tags[path] = stat(path, &status) == 0 ? status.tag : ""
        }
    }

    /// - Parameters:
    ///   - settings: those that the daemon has started with.
    ///   - read: reads them again. Blocks.
    ///   - examine: finds what is odd in settings that were read again, beside their table. Blocks.
    ///   - adopt: takes up what of other settings can be, before their table.
    init(
        _ loader: MappingLoader,
        _ settings: Settings,
        read: @escaping SettingsReading,
        examine: @escaping @Sendable (Settings, MappingTable) -> [ConfigurationMistake],
        adopt: @escaping @Sendable (Settings) -> Void,
        logger: Logger
    ) {
        self.loader = loader
        self.settings = settings
        self.read = read
        self.examine = examine
        self.adopt = adopt
        self.logger = logger
        taken = TakenSettings(path: StandardFolders.programs(beside: settings.media), logger: logger)
    }

    /// Loads the first table.
    func start(
        _ router: Router,
        _ catalog: [String: any CommandObject]
    ) throws(ConfigurationMistakes) {
        target.withLock { $0 = Target(router: router, catalog: catalog) }
        _ = try load(nil)
    }

    /// Loads the table again, and takes up what it can of the settings. If there are mistakes, throws `invalid`, with all of them in
    /// `mistakes`.
    func reload() async throws(CommandError) -> Reloaded {
        guard !isOver.load(ordering: .relaxed) else { throw CommandError(.cancelled, "the daemon is stopping") }
        let loaded = Promise<Result<Reloaded, ConfigurationMistakes>>()
        // Before what anybody's doctor looks for.
        thread.runFirst {
            let result = Result { () throws(ConfigurationMistakes) in try self.load(self.read()) }
            if case .failure(let found) = result { self.log(found) }
            loaded.fulfil(result)
        }
        let result = try await loaded.value()
        let mistakes: ConfigurationMistakes
        switch result {
        case .success(let found): return found
        case .failure(let found): mistakes = found
        }
        throw CommandError(
            .invalid,
            "the old settings and mappings stay: \(mistakes.mistakes.map(\.description).joined(separator: "; "))",
            details: ["mistakes": .array(mistakes.mistakes.map { .string($0.description) })]
        )
    }

    private func log(_ mistakes: ConfigurationMistakes) {
        for mistake in mistakes.mistakes { logger.error("\(mistake)") }
        logger.error("nothing was reloaded; the old settings and mappings stay")
    }

    /// Ends when what it does is done.
    func close() async {
        isOver.store(true, ordering: .relaxed)
        let done = Promise<Void>()
        thread.run(for: "") { done.fulfil(()) }
        try? await done.value()
    }

    /// - Parameter reread: the settings as they are now; nil: at the start.
    private func load(
        _ reread: (settings: Settings, mistakes: [ConfigurationMistake])?
    ) throws(ConfigurationMistakes) -> Reloaded {
        guard let target = target.withLock({ $0 }) else { return Reloaded() }
        // Before they are read: what is written meanwhile counts as not read.
        let tags = tags(reread?.settings ?? settings)
        let mistakes = reread.map { $0.mistakes + Sockets($0.settings, accounts).mistakes } ?? []
        let table: MappingTable
        let found: [ConfigurationMistake]
        do throws(ConfigurationMistakes) { (table, found) = try loader.load(target.catalog, target.router) } catch {
            throw ConfigurationMistakes(mistakes + error.mistakes)
        }
        guard mistakes.isEmpty else { throw ConfigurationMistakes(mistakes) }
        used.withLock { $0 = tags }
        // The table's turn is last, because handlers and subscriptions are checked again with it.
        if let reread { adopt(reread.settings) }
        var warnings = (found + (reread.map { examine($0.settings, table) } ?? [])).map(\.description)
        warnings += target.router.replaceTable(table).map { "\($0)" }
        loader.hardware?.adopt(table)
        loader.scheduler?.adopt(table)
        if table.count == 0 {
            warnings.append("no command is mapped: the folders of mappings have no files; --mappings names another")
        }
        for warning in warnings { logger.warning("\(warning)") }
        if table.count > 0 { logger.info("\(table.count) commands are mapped") }
        var reloaded = Reloaded()
        reloaded.warnings = warnings
        reloaded.restart = reread.map { changes(in: $0.settings) } ?? []
        changed.withLock { $0 = reloaded.restart }
        for sentence in Settings.restarts(for: reloaded.restart) { logger.notice("\(sentence)") }
        return reloaded
    }
}

/// Loads the mappings into a table.
struct MappingLoader: Sendable {
    private let folders: [MappingFiles.Folder]
    private let accounts: SystemAccounts
    private let isSimulated: Bool
    private let gateways: [String]
    /// The folders of procedures; empty where a server has more of them, which the daemon may not read.
    private let procedures: [String]

    /// The command that exists only with `--simulate`, whatever the owner's files say of it.
    private static let simulationCommand = "simulate"

    let scheduler: Scheduler?
    let hardware: DeclaredHardware?

    /// - Parameters:
    ///   - scheduler: what runs the schedules; nil where the mappings are only checked.
    ///   - hardware: what values and events are bound to; nil then, too.
    init(
        _ settings: Settings,
        _ accounts: SystemAccounts,
        _ scheduler: Scheduler? = nil,
        _ hardware: DeclaredHardware? = nil
    ) {
        (self.scheduler, self.hardware) = (scheduler, hardware)
        folders = settings.mappings
        gateways = Set(settings.sockets.compactMap(\.gateway?.value)).sorted()
        isSimulated = settings.simulate
        let places = StandardFolders()
        procedures = settings.procedureSettings.sync == nil ? [places.procedures, places.shippedProcedures] : []
        self.accounts = accounts
    }

    var paths: [String] { MappingFiles.paths(in: folders) }

    /// Reads all files. Blocks.
    func load(
        _ catalog: [String: any CommandObject],
        _ router: Router
    ) throws(ConfigurationMistakes) -> (table: MappingTable, warnings: [ConfigurationMistake]) {
        var files = MappingFiles.load(folders)
        files.gateways = gateways
        if !isSimulated { files.drop(Self.simulationCommand) }
        let (table, warnings) = try files.build(
            catalog: catalog,
            scripts: { HandlerCommandObject($0, handlers: router.handlers) },
            declared: { name, entry in
                if entry.kind == .schedule { return ScheduleCommandObject(name: name, scheduler: scheduler) }
                guard let value = entry.value, value.binding != nil else {
                    return ValueCommandObject(name, router.values)
                }
                return BoundCommandObject(name, value, router.values, hardware?.values)
            },
            accounts: accounts
        )
        try table.checkBindings()
        let planned = try table.checkPlannedCalls() + table.checkPlannedSets()
        return (table, warnings + planned + table.warningsOfProcedures(in: procedures))
    }
}
