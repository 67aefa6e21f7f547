import Concurrency
import Linux
import Logging
import QuickConnect
import Synchronization
import UnixSocketListener

/// Feeds systemd's watchdog from the event loop, so a loop that is stuck feeds nothing; and only while the device
/// threads and those that run the commands' tasks get on with their work. It reads the progress that the threads report
/// instead of waking them, which saves battery.
final class Heartbeat: Sendable {
    private let manager: ServiceManager
    private let pool: ThreadPool
    private let status: StatusLine
    private let logger: Logger
    private let isStuck = Atomic<Bool>(false)
    private let before = Mutex<(waiting: Int, taken: Int)?>(nil)

    init(_ manager: ServiceManager, _ pool: ThreadPool, _ status: StatusLine, logger: Logger) {
        self.manager = manager
        self.status = status
        self.pool = pool
        self.logger = logger
    }

    /// Begins to beat, twice in systemd's time as sd_watchdog_enabled(3) recommends; where systemd does not listen,
    /// not at all.
    func start(on loop: ConnectionLoop) {
        guard let time = manager.watchdogTime else { return }
        let interval = time / 2
        loop.repeatEvery(interval) {
            let complaints = self.complaints(after: interval)
            guard complaints.isEmpty else {
                let text = complaints.joined(separator: "; ")
                self.logger.error("the watchdog is not fed: \(text)")
                self.isStuck.store(true, ordering: .relaxed)
                return self.status.tell(trouble: "stuck: \(text)")
            }
            self.manager.feedWatchdog()
            if self.isStuck.exchange(false, ordering: .relaxed) { self.status.changed() }
        }
    }

    /// The threads that have made no progress for an interval.
    private func complaints(after interval: Duration) -> [String] {
        var complaints = WatchedThread.blocked(longerThan: interval).map { "\($0) does not come back" }
        let progress = pool.progress
        let before = before.withLock { before in
            defer { before = progress }
            return before
        }
        if let before, before.waiting > 0, progress.waiting > 0, before.taken == progress.taken {
            complaints.append("no task gets on")
        }
        return complaints
    }
}
