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

    private let loader: MappingLoader
    private let logger: Logger
    private let target = Mutex<Target?>(nil)
    /// One at a time, so that the last request takes effect last.
    private let thread = NIOThreadPool(numberOfThreads: 1)

    init(_ loader: MappingLoader, logger: Logger) {
        self.loader = loader
        self.logger = logger
    }

    /// Loads the first table.
    func start(
        _ router: Router,
        _ catalog: [String: any CommandObject]
    ) throws(ConfigurationMistakes) {
        target.withLock { $0 = Target(router: router, catalog: catalog) }
        thread.start()
        _ = try load()
    }

    /// Loads the table again, and returns the warnings. If there are mistakes, throws `invalid`, with all of them in
    /// `mistakes`.
    func reload() async throws(CommandError) -> [String] {
        let result: Result<[String], ConfigurationMistakes>
        do {
            result = try await thread.runIfActive {
                Result { () throws(ConfigurationMistakes) in try self.load() }
            }
        } catch {
            throw CommandError(.cancelled, "the daemon is stopping")
        }
        let mistakes: ConfigurationMistakes
        switch result {
        case .success(let warnings): return warnings
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

    private func load() throws(ConfigurationMistakes) -> [String] {
        guard let target = target.withLock({ $0 }) else { return [] }
        let (table, found) = try loader.load(target.catalog, target.router)
        var warnings = found.map(\.description)
        warnings += target.router.replaceTable(table).map { "\($0)" }
        if table.count == 0 {
            warnings.append("no command is mapped: the folders of mappings have no files; --mappings names another")
        }
        for warning in warnings { logger.warning("\(warning)") }
        if table.count > 0 { logger.info("\(table.count) commands are mapped") }
        return warnings
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
