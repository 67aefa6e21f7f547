internal import HeapModule

/// The alarms of this process: one thread that sleeps until the next alarm. It starts with the first alarm, and sleeps
/// without a timeout while there is none.
///
/// `Task.sleep` uses libdispatch, which, once its threads are started, has one that wakes every second. That costs
/// battery.
package final class AlarmThread: AlarmClock {
    package static let shared = AlarmThread()

    private struct Alarm: Comparable, Sendable {
        let instant: SuspendingClock.Instant
        /// Alarms of one instant ring in the order they were set.
        let number: Int
        let body: @Sendable () -> Void

        static func < (one: Alarm, other: Alarm) -> Bool {
            (one.instant, one.number) < (other.instant, other.number)
        }

        static func == (one: Alarm, other: Alarm) -> Bool { one.number == other.number }
    }

    private struct State: Sendable {
        var alarms = Heap<Alarm>()
        var count = 0
        var isRunning = false
        /// Cancelled alarms, removed when there are many of them.
        var cancelled: Set<Int> = []

        mutating func cancel(_ number: Int) {
            cancelled.insert(number)
            guard cancelled.count > 64, cancelled.count > alarms.count / 2 else { return }
            alarms = Heap(alarms.unordered.filter { !cancelled.contains($0.number) })
            cancelled = []
        }
    }

    private let monitor = Monitor(State())

    package init() {}

    package func ring(after time: Duration, _ body: @escaping @Sendable () -> Void) { _ = set(after: time, body) }

    /// - Returns: the alarm's number, for ``cancel(_:)``.
    package func set(after time: Duration, _ body: @escaping @Sendable () -> Void) -> Int {
        let (isFirst, number) = monitor.withLock { state in
            state.count += 1
            let alarm = Alarm(instant: .now + time, number: state.count, body: body)
            state.alarms.insert(alarm)
            // If no thread can be started, the alarm waits until a later one starts it; nothing better is possible.
            if !state.isRunning { state.isRunning = PThread.start("qc-alarm") { self.run() } == 0 }
            return (state.alarms.min == alarm, alarm.number)
        }
        if isFirst { monitor.notify() }
        return number
    }

    /// How many alarms are stored, including cancelled ones that have not been removed.
    var count: Int { monitor.withLock { $0.alarms.count } }

    /// Cancels an alarm, which then does not ring unless it is ringing now.
    package func cancel(_ number: Int) { monitor.withLock { $0.cancel(number) } }

    private func run() {
        while true {
            let alarm = monitor.wait { state -> Monitor<State>.Verdict<Alarm> in
                while let first = state.alarms.min, state.cancelled.remove(first.number) != nil {
                    state.alarms.removeMin()
                }
                guard let first = state.alarms.min else { return .wait(until: nil) }
                guard first.instant <= .now else { return .wait(until: first.instant) }
                return .go(state.alarms.removeMin())
            }
            alarm.body()
        }
    }
}

extension Deferred {
    /// The value, or an ``Interruption`` if it is not there by that time.
    package func value(before end: ContinuousClock.Instant) async throws(Failure) -> Value {
        let alarm = AlarmThread.shared.set(after: ContinuousClock.now.duration(to: end)) {
            self.fail(Failure(Interruption(.timedOut, "it took too long")))
        }
        defer { AlarmThread.shared.cancel(alarm) }
        return try await value()
    }
}
