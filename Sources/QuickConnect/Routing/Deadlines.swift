internal import Concurrency
import DequeModule
import Synchronization

/// The deadlines of the waiting calls: one alarm is set for the first of them.
final class Deadlines: Sendable {
    private typealias Instant = ContinuousClock.Instant

    /// Calls with the same timeout come due in the order they began, so they need no sorting. Those that are over
    /// stay until they are the first, or until there are more of them than others.
    private final class Queue {
        // Of a tuple the compiler makes no code of its own, and each look at one costs a copy through its type's table.
        struct Entry {
            let instant: Instant
            let call: WaitingCall
        }

        let timeout: Duration
        var entries = Deque<Entry>()
        var livingCount = 0

        init(_ timeout: Duration) { self.timeout = timeout }

        func removeOver() {
            while let first = entries.first, first.call.isOver { entries.removeFirst() }
            if entries.count > 2 * livingCount + 1024 { entries.removeAll { $0.call.isOver } }
        }
    }

    private struct State: @unchecked Sendable {
        // Sendable because the queues are touched only while the state is locked.
        /// One for each timeout of the mappings, which are few.
        var queues: [Queue] = []
        /// The next alarm that is set.
        var alarm: Instant?

        mutating func queue(_ timeout: Duration) -> Queue {
            if let queue = queues.first(where: { $0.timeout == timeout }) { return queue }
            let queue = Queue(timeout)
            queues.append(queue)
            return queue
        }

        /// Whether an alarm has to be set for that time, which then counts as set.
        mutating func takesAlarm(at instant: Instant) -> Bool {
            if let alarm, alarm <= instant { return false }
            alarm = instant
            return true
        }
    }

    private let clock: any AlarmClock
    private let state = Mutex(State())

    init(_ clock: any AlarmClock) { self.clock = clock }

    func add(_ call: WaitingCall) {
        guard let timeout = call.timeout else { return }
        let instant = Instant.now + timeout
        let needsAlarm = state.withLock { state in
            let queue = state.queue(timeout)
            queue.entries.append(Queue.Entry(instant: instant, call: call))
            queue.livingCount += 1
            // Hardly ever: only for what comes before all others.
            return state.takesAlarm(at: instant)
        }
        if needsAlarm { setAlarm(at: instant) }
    }

    /// A call is over.
    func didEnd(_ call: WaitingCall) {
        guard let timeout = call.timeout else { return }
        state.withLock { state in
            let queue = state.queue(timeout)
            queue.livingCount -= 1
            queue.removeOver()
        }
    }

    private func setAlarm(at instant: Instant) {
        clock.ring(after: Instant.now.duration(to: instant)) { [weak self] in self?.ring(instant) }
    }

    /// Ends the calls whose time is over, and sets the next alarm.
    private func ring(_ alarm: Instant) {
        for call in takeDue() { call.endWithTimeout() }
        let next = state.withLock { state -> Instant? in
            // An alarm that was set before an earlier one came leaves that one's successor alone.
            if state.alarm == alarm { state.alarm = nil }
            guard let first = state.queues.compactMap({ $0.entries.first?.instant }).min() else { return nil }
            return state.takesAlarm(at: first) ? first : nil
        }
        if let next { setAlarm(at: next) }
    }

    private func takeDue() -> [WaitingCall] {
        let now = Instant.now
        return state.withLock { state in
            var due: [WaitingCall] = []
            for queue in state.queues {
                while let first = queue.entries.first, first.instant <= now {
                    queue.entries.removeFirst()
                    due.append(first.call)
                }
            }
            // A timeout that a reload has changed must not stay for ever.
            state.queues.removeAll { $0.entries.isEmpty && $0.livingCount == 0 }
            return due
        }
    }
}
