import JSON
import Logging
import NIOPosix
import QuickConnect
import ServiceLifecycle
import Synchronization

/// Reads the mappings when the daemon starts, at the command `reload`, and at SIGHUP. A mistake keeps the old table.
final class Reloader: Sendable {
    private struct Target {
        let router: Router
        let catalog: [String: any CommandObject]
    }

    private let tables: Tables
    private let logger: Logger
    private let target = Mutex<Target?>(nil)
    /// One at a time, so that the last one asked for is the one that holds.
    private let thread = NIOThreadPool(numberOfThreads: 1)

    init(_ tables: Tables, logger: Logger) {
        self.tables = tables
        self.logger = logger
    }

    /// Loads the first table.
    func start(
        _ router: Router,
        _ catalog: [String: any CommandObject]
    ) throws(ConfigurationMistakes) {
        target.withLock { $0 = Target(router: router, catalog: catalog) }
        thread.start()
        try load()
    }

    /// Loads the table anew. On any mistake: `invalid`, with all of them as `mistakes`.
    func reload() async throws(CommandError) {
        let mistakes: ConfigurationMistakes?
        do {
            mistakes = try await thread.runIfActive {
                do throws(ConfigurationMistakes) {
                    try self.load()
                    return nil
                } catch {
                    return error
                }
            }
        } catch {
            throw CommandError(.cancelled, "the daemon is stopping")
        }
        guard let mistakes else { return }
        for mistake in mistakes.mistakes { logger.error("\(mistake)") }
        logger.error("the mappings were not reloaded; the old ones stay")
        throw CommandError(
            .invalid,
            "the old mappings stay: \(mistakes.mistakes.map(\.description).joined(separator: "; "))",
            details: ["mistakes": .array(mistakes.mistakes.map { .string($0.description) })]
        )
    }

    func close() async { try? await thread.shutdownGracefully() }

    private func load() throws(ConfigurationMistakes) {
        guard let target = target.withLock({ $0 }) else { return }
        let (table, warnings) = try tables.load(target.catalog, target.router)
        for warning in warnings { logger.warning("\(warning)") }
        for warning in target.router.replaceTable(table) { logger.warning("\(warning)") }
        if table.count == 0 {
            logger.warning("no command is mapped: the folders of mappings have no files; --mappings names another")
        } else {
            logger.info("\(table.count) commands are mapped")
        }
    }
}

/// Reloads at SIGHUP.
struct HangUpService: Service {
    let reloader: Reloader
    let signals: Signals

    func run() async throws {
        await withGracefulShutdownHandler {
            for await _ in signals.hangUps {
                // What went wrong is in the log; nobody else asked.
                try? await reloader.reload()
            }
        } onGracefulShutdown: {
            signals.endHangUps()
        }
        await reloader.close()
    }
}
