internal import Concurrency
import Configuration
internal import Glibc
internal import Linux
internal import Synchronization

/// A thread that watches the thread that runs the script.
///
/// The engine's own limit ends a loop, but not an endless chain of promises or a blocking native call, and it does not
/// limit memory. So this thread checks every few milliseconds while the script runs, and ends the process if it exceeds
/// a limit. It sleeps while the script does.
final class Watcher: Sendable {
    private static let tick = Duration.milliseconds(5)
    private static let timeout = Duration.milliseconds(200)

    private let limits: ScriptLimits
    private let clock: clockid_t
    private let onLimit: @Sendable (Limit) -> Void
    /// Odd while the script runs; incremented at each beginning and end.
    private let turn = Atomic<UInt64>(0)
    /// Greater than 0 while the script waits for something that may take time, and how often it has.
    private let waitDepth = Atomic<Int>(0)
    private let waits = Atomic<UInt64>(0)
    /// Whether the current turn handles a call, for which somebody waits.
    private let isHandlerCall: @Sendable () -> Bool
    private let isAsleep = Atomic(false)
    private let bell = Monitor(())

    /// - Parameter onLimit: called on the watching thread, once; ends the process.
    init(
        _ limits: ScriptLimits,
        isHandlerCall: @escaping @Sendable () -> Bool,
        onLimit: @escaping @Sendable (Limit) -> Void
    ) {
        self.limits = limits
        self.isHandlerCall = isHandlerCall
        self.onLimit = onLimit
        var clock = clockid_t()
        pthread_getcpuclockid(pthread_self(), &clock)
        self.clock = clock
    }

    /// Starts the thread. Called by the thread that runs the script.
    /// - Returns: 0, or the error number of `pthread_create`.
    func start() -> Int32 { PThread.start("watcher") { self.watch() } }

    // MARK: Called by the thread that runs the script

    func begin() {
        turn.add(1, ordering: .sequentiallyConsistent)
        if isAsleep.load(ordering: .sequentiallyConsistent) { wake() }
    }

    func end() { turn.add(1, ordering: .releasing) }

    /// Runs something that may block through no fault of the script.
    func waiting<Result>(_ body: () -> Result) -> Result {
        waitDepth.add(1, ordering: .relaxed)
        defer {
            waits.add(1, ordering: .relaxed)
            waitDepth.subtract(1, ordering: .relaxed)
        }
        return body()
    }

    private func wake() {
        isAsleep.store(false, ordering: .relaxed)
        bell.withLock { _ in }
        bell.notify()
    }

    // MARK: On its own thread

    private struct Observation {
        var turn: UInt64 = 0
        var waits: UInt64 = 0
        /// When this turn was first seen, and the thread's CPU time then.
        var began = ContinuousClock.now
        var cpu = 0.0
        /// When the script was last seen waiting.
        var waited = ContinuousClock.now
    }

    private func watch() {
        var seen = Observation()
        var share = ShareWindow(limits)
        var lastActive = ContinuousClock.now
        while true {
            let now = ContinuousClock.now
            let turn = turn.load(ordering: .acquiring)
            if turn != seen.turn {
                lastActive = now
                seen = Observation(
                    turn: turn,
                    waits: waits.load(ordering: .relaxed),
                    began: now,
                    cpu: KernelClock.seconds(of: clock),
                    waited: now
                )
            }
            if turn % 2 == 1 {
                lastActive = now
                if let limit = passed(&seen, now) { return onLimit(limit) }
            }
            if ProcessFile.residentBytes(of: "self") > limits.memoryBytes { return onLimit(.memory) }
            if share.isExceeded(at: now, cpu: KernelClock.seconds(of: CLOCK_PROCESS_CPUTIME_ID)) {
                return onLimit(.share)
            }
            sleep(turn, isIdle: now - lastActive > Self.timeout)
        }
    }

    /// The limit that the current turn has exceeded.
    private func passed(_ seen: inout Observation, _ now: ContinuousClock.Instant) -> Limit? {
        // The engine's own limit should come first, because it knows the line.
        if KernelClock.seconds(of: clock) - seen.cpu > limits.cpuSeconds + 0.1 { return .cpuTime }
        let waits = waits.load(ordering: .relaxed)
        if waitDepth.load(ordering: .relaxed) > 0 || waits != seen.waits { (seen.waited, seen.waits) = (now, waits) }
        if now - seen.began > .seconds(limits.handlerSeconds + 1), isHandlerCall() { return .handlerTime }
        return now - seen.waited > .seconds(limits.handlerSeconds) ? .blocked : nil
    }

    private func sleep(_ turn: UInt64, isIdle: Bool) {
        if isIdle {
            isAsleep.store(true, ordering: .sequentiallyConsistent)
            // A turn that began meanwhile may have missed the flag.
            if self.turn.load(ordering: .sequentiallyConsistent) != turn { isAsleep.store(false, ordering: .relaxed) }
        }
        let end = SuspendingClock.now + Self.tick
        bell.wait { (_: inout Void) -> Monitor<Void>.Verdict<Void> in
            if isAsleep.load(ordering: .relaxed) { return .wait(until: nil) }
            return SuspendingClock.now < end ? .wait(until: end) : .go(())
        }
    }
}

/// The process's recent share of a CPU core.
struct ShareWindow {
    private let limits: ScriptLimits
    private var samples: [(time: ContinuousClock.Instant, cpu: Double)] = []

    init(_ limits: ScriptLimits) { self.limits = limits }

    /// Takes a sample, at most ten per second, and returns whether the recent share exceeds the limit.
    mutating func isExceeded(at now: ContinuousClock.Instant, cpu: Double) -> Bool {
        if let last = samples.last, now - last.time < .milliseconds(100) { return false }
        samples.append((now, cpu))
        let start = now - .seconds(limits.shareSeconds)
        // The last sample before the window stands for its beginning.
        while samples.count > 1, samples[1].time <= start { samples.removeFirst() }
        guard let first = samples.first, first.time <= start else { return false }
        let seconds = (now - first.time) / .seconds(1)
        return (cpu - first.cpu) / seconds * 100 > Double(limits.sharePercent)
    }
}
