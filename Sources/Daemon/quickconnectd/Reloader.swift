import Commands
import Configuration
import JSON
import Logging
import NIOPosix
import QuickConnect
import ServiceLifecycle
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
    private let thread = NIOThreadPool(numberOfThreads: 1)

    private let settings: Settings
    private let read: SettingsReading
    /// Takes up what of new settings can be, before the table.
    private let adopt: @Sendable (Settings) -> Void
    private let changed = Mutex<[String]>([])

    /// The keys of the settings that the last reload found changed since the start.
    var restart: [String] { changed.withLock { $0 } }

    /// - Parameters:
    ///   - settings: those that the daemon has started with.
    ///   - read: reads them again. Blocks.
    ///   - adopt: takes up what of other settings can be, before their table.
    init(
        _ loader: MappingLoader,
        _ settings: Settings,
        read: @escaping SettingsReading,
        adopt: @escaping @Sendable (Settings) -> Void,
        logger: Logger
    ) {
        self.loader = loader
        self.settings = settings
        self.read = read
        self.adopt = adopt
        self.logger = logger
    }

    /// Loads the first table.
    func start(
        _ router: Router,
        _ catalog: [String: any CommandObject]
    ) throws(ConfigurationMistakes) {
        target.withLock { $0 = Target(router: router, catalog: catalog) }
        thread.start()
        _ = try load(nil)
    }

    /// Loads the table again, and takes up what it can of the settings. If there are mistakes, throws `invalid`, with all of them in
    /// `mistakes`.
    func reload() async throws(CommandError) -> Reloaded {
        let result: Result<Reloaded, ConfigurationMistakes>
        do {
            result = try await thread.runIfActive {
                Result { () throws(ConfigurationMistakes) in try self.load(self.read()) }
            }
        } catch {
            throw CommandError(.cancelled, "the daemon is stopping")
        }
        let mistakes: ConfigurationMistakes
        switch result {
        case .success(let found): return found
        case .failure(let found): mistakes = found
        }
        for mistake in mistakes.mistakes { logger.error("\(mistake)") }
        logger.error("the mappings were not reloaded; the old ones stay")
        throw CommandError(
            .invalid,
            "the old mappings stay: \(mistakes.mistakes.map(\.description).joined(separator: "; "))",
            details: ["mistakes": .array(mistakes.mistakes.map { .string($0.description) })]
        )
    }

    func close() async { try? await thread.shutdownGracefully() }

    /// - Parameter reread: the settings as they are now; nil: at the start.
    private func load(
        _ reread: (settings: Settings, mistakes: [ConfigurationMistake])?
    ) throws(ConfigurationMistakes) -> Reloaded {
        guard let target = target.withLock({ $0 }) else { return Reloaded() }
        let mistakes = reread.map { $0.mistakes + Sockets($0.settings, accounts).mistakes } ?? []
        let table: MappingTable
        let found: [ConfigurationMistake]
        do throws(ConfigurationMistakes) { (table, found) = try loader.load(target.catalog, target.router) } catch {
            throw ConfigurationMistakes(mistakes + error.mistakes)
        }
        guard mistakes.isEmpty else { throw ConfigurationMistakes(mistakes) }
        // The table's turn is last, because handlers and subscriptions are checked again with it.
        if let reread { adopt(reread.settings) }
        var warnings = found.map(\.description)
        warnings += target.router.replaceTable(table).map { "\($0)" }
        if table.count == 0 {
            warnings.append("no command is mapped: the folders of mappings have no files; --mappings names another")
        }
        for warning in warnings { logger.warning("\(warning)") }
        if table.count > 0 { logger.info("\(table.count) commands are mapped") }
        var reloaded = Reloaded()
        reloaded.warnings = warnings
        reloaded.restart = reread.map { settings.changes(in: $0.settings) } ?? []
        changed.withLock { $0 = reloaded.restart }
        if !reloaded.restart.isEmpty {
            logger.notice("a restart takes up the changed settings: \(reloaded.restart.joined(separator: ", "))")
        }
        return reloaded
    }
}

/// Reloads at SIGHUP.
struct HangUpService: Service {
    let reloader: Reloader
    let signals: Signals

    func run() async throws {
        await withGracefulShutdownHandler {
            for await _ in signals.hangUps {
                // Errors are in the log; nobody else asked.
                _ = try? await reloader.reload()
            }
        } onGracefulShutdown: {
            signals.endHangUps()
        }
        await reloader.close()
    }
}
