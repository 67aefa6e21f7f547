import Concurrency
import JSON
import Linux
import Logging
import QuickConnect
import Runtime
import Synchronization

/// The line in `systemctl status`: the daemon's state. Updated when it changes, at most twice a second.
final class StatusLine: Sendable {
    private struct State {
        var controller: FrontController?
        var listener: UnixSocketListener?
        var isDue = false
        var told = ""
        var trouble = ""
    }

    private let manager: ServiceManager
    private let clock: any AlarmClock
    private let devices: [any Device]
    private let state = Mutex(State())

    private static let delay = Duration.milliseconds(500)
    private static let busyDelay = Duration.seconds(2)

    init(_ manager: ServiceManager, _ devices: [any Device], clock: any AlarmClock) {
        self.manager = manager
        self.devices = devices
        self.clock = clock
    }

    /// The sources of the line, apart from the devices.
    func show(_ controller: FrontController, _ listener: UnixSocketListener) {
        state.withLock { ($0.controller, $0.listener) = (controller, listener) }
    }

    /// The state may have changed.
    func changed() { report(after: Self.delay) }

    /// Something is wrong, or, if it is empty, no more.
    func report(trouble: String) {
        state.withLock { $0.trouble = trouble }
        report()
    }

    private func report(after delay: Duration) {
        guard manager.isThere else { return }
        let isFirst = state.withLock { state in
            defer { state.isDue = true }
            return !state.isDue
        }
        if isFirst { clock.ring(after: delay) { self.report() } }
    }

    private func report() {
        state.withLock { $0.isDue = false }
        let (line, isBusy) = composed
        let isNew = state.withLock { state in
            defer { state.told = line }
            return state.told != line
        }
        if isNew { manager.status(line) }
        // A sound ends by itself, without the end of a call.
        if isBusy { report(after: Self.busyDelay) }
    }

    /// Such as `28 commands, 3 connections; plays 1; records 2`.
    var line: String { composed.line }

    /// The line, and whether it may change without a notification.
    private var composed: (line: String, isBusy: Bool) {
        let (controller, listener, trouble) = state.withLock { ($0.controller, $0.listener, $0.trouble) }
        let commands = Self.count(controller?.currentTable.count ?? 0, "command")
        var line = trouble.isEmpty ? "" : "\(trouble); "
        line += "\(commands), \(Self.count(listener?.connectionCount ?? 0, "connection"))"
        var isBusy = false
        for (member, verb) in [("playing", "plays"), ("recording", "records"), ("vibrating", "vibrates")] {
            let items = devices.reduce(0) { $0 + ($1.state()[member]?.arrayValue?.count ?? 0) }
            guard items > 0 else { continue }
            line += "; \(verb) \(items)"
            isBusy = true
        }
        return (line, isBusy)
    }

    private static func count(_ number: Int, _ noun: String) -> String { "\(number) \(noun)\(number == 1 ? "" : "s")" }
}

/// Feeds systemd's watchdog from the event loop, so a loop that is stuck feeds nothing; and only while the threads that
/// run the commands' tasks get on with their work. It reads the progress that the threads report instead of waking them,
/// which saves battery. A device that does not come back is unavailable, and told in the status: an end of the daemon
/// would end everything else, and not help it.
final class Heartbeat: Sendable {
    private let manager: ServiceManager
    private let pool: ThreadPool
    private let status: StatusLine
    private let logger: Logger
    private let told = Mutex("")
    private let before = Mutex<(waiting: Int, taken: Int)?>(nil)

    private let beside: @Sendable () -> Void

    /// - Parameter beside: what else is looked at at each beat, on the loop.
    init(
        _ manager: ServiceManager,
        _ pool: ThreadPool,
        _ status: StatusLine,
        logger: Logger,
        beside: @escaping @Sendable () -> Void = {}
    ) {
        self.beside = beside
        self.manager = manager
        self.status = status
        self.pool = pool
        self.logger = logger
    }

    /// Begins to beat, twice in systemd's time as sd_watchdog_enabled(3) recommends; where systemd does not listen,
    /// not at all.
    func start(on loop: Loop) {
        guard let time = manager.watchdogTime else { return }
        let interval = time / 2
        loop.execute { loop.repeatEvery(LoopSpan(interval)) { self.beat(interval) } }
    }

    private func beat(_ interval: Duration) {
        if taskThreadsStand() {
            logger.error("the watchdog is not fed: no task gets on")
            return tell("stuck: no task gets on")
        }
        manager.feedWatchdog()
        beside()
        let steps = WatchedThread.blocked(longerThan: interval).sorted()
        tell(steps.isEmpty ? "" : "stuck: " + steps.map { "\($0) does not come back" }.joined(separator: "; "))
    }

    /// Says what is wrong when it begins, and that it is over.
    private func tell(_ trouble: String) {
        let before = told.withLock { told in
            defer { told = trouble }
            return told
        }
        guard trouble != before else { return }
        if !trouble.isEmpty { logger.warning("\(trouble)") }
        status.report(trouble: trouble)
    }

    /// Whether the threads of tasks have made no progress since the last beat, though some wait.
    private func taskThreadsStand() -> Bool {
        let progress = pool.progress
        let before = before.withLock { before in
            defer { before = progress }
            return before
        }
        guard let before else { return false }
        return before.waiting > 0 && progress.waiting > 0 && before.taken == progress.taken
    }
}
