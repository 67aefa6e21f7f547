import Concurrency
import Glibc
import JSON
import Linux
import Logging
import QuickConnect
import Synchronization

/// Keeps values over restarts, in a file of the state directory: `{"version": 1, "values": {"NAME": VALUE}}`.
///
/// It is written atomically, at most once a second.
final class ValueFile: ValueKeeper {
    let kept: JSONObject
    private let path: String
    private let logger: Logger
    private let clock: any AlarmClock
    private let thread = SideThread<Void>("qc-values", wake: {})
    private let state = Mutex(State())
    /// Held while the file is written, because the daemon may end during a write.
    private let writing = Mutex(())

    private struct State {
        /// What must be written; nil if nothing must.
        var values: (@Sendable () -> JSONObject)?
        /// Whether a write is running or due.
        var isBusy = false
        /// Whether the log already says that it cannot be written.
        var isTold = false
    }

    private static let pause = Duration.seconds(1)
    private static let maxBytes = 64 << 20
    private static let version: Int64 = 1

    init(path: String, clock: any AlarmClock, logger: Logger) {
        self.path = path
        self.clock = clock
        self.logger = logger
        if let folder = Folders.parent(of: path) { StateLock.hold(folder, logger) }
        kept = Self.read(path, logger)
    }

    private static func read(_ path: String, _ logger: Logger) -> JSONObject {
        StateFile.read(path, "the kept values", maximumBytes: maxBytes, logger: logger) { json in
            json.objectValue?["version"] == .integer(version) ? json.objectValue?["values"]?.objectValue : nil
        } ?? [:]
    }

    func keep(_ values: @escaping @Sendable () -> JSONObject) {
        let mayBegin = state.withLock { state in
            state.values = values
            defer { state.isBusy = true }
            return !state.isBusy
        }
        if mayBegin { thread.run(for: "") { self.writeChanges() } }
    }

    /// Writes the present values, and a second later any changes made meanwhile.
    private func writeChanges() {
        write()
        clock.ring(after: Self.pause) { [weak self] in
            guard let self else { return }
            let isMore = state.withLock { state in
                state.isBusy = state.values != nil
                return state.isBusy
            }
            if isMore { thread.run(for: "") { self.writeChanges() } }
        }
    }

    /// Writes at once what has not been written yet. May block.
    func write() { writing.withLock { _ in writeNow() } }

    private func writeNow() {
        guard let values = state.withLock({ $0.values.take() }) else { return }
        let text = JSONValue.object(["version": .integer(Self.version), "values": .object(values())]).text + "\n"
        do throws(SystemCallError) {
            // A file too large to be read again would cost the next start all values.
            if text.utf8.count > Self.maxBytes { throw SystemCallError("write", EFBIG) }
            if let folder = Folders.parent(of: path) { try Folders.make(folder) }
            try FileText.replace(path, with: text)
            report(nil)
        } catch {
            state.withLock { $0.values = $0.values ?? values }
            report(error)
        }
    }

    /// Logs once when writing begins to fail, and once when it works again.
    private func report(_ error: SystemCallError?) {
        let isNews = state.withLock { state in
            defer { state.isTold = error != nil }
            return state.isTold != (error != nil)
        }
        guard isNews else { return }
        if let error {
            logger.error("values cannot be kept in \(path): \(error); it is tried again each second")
        } else {
            logger.notice("values are kept in \(path) again")
        }
    }
}
