internal import Concurrency
import DequeModule
import Synchronization

/// The deadlines of the waiting calls. One alarm is set, for the first of them.
final class Deadlines: Sendable {
    private typealias Instant = ContinuousClock.Instant

    /// Calls with the same timeout expire in the order they began, so they need no sorting. Calls that have ended stay
    /// until they are first, or until they outnumber the others.
    private final class Queue {
        // A struct, because the compiler generates no specialized code for a tuple: each access would copy through its
        // type metadata.
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
        /// One queue for each timeout in the mappings. There are few.
        var queues: [Queue] = []
        /// The next alarm that is set.
        var alarm: Instant?

        mutating func queue(_ timeout: Duration) -> Queue {
            if let queue = queues.first(where: { $0.timeout == timeout }) { return queue }
            let queue = Queue(timeout)
            queues.append(queue)
            return queue
        }

        /// Returns whether an alarm must be set for that time, and records it as set.
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
            // This is rare: only for a deadline before all others.
            return state.takesAlarm(at: instant)
        }
        if needsAlarm { setAlarm(at: instant) }
    }

    /// A call has ended.
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

    /// Ends the calls whose deadline has passed, and sets the next alarm.
    private func ring(_ alarm: Instant) {
        for call in takeDue() { call.endWithTimeout() }
        let next = state.withLock { state -> Instant? in
            // This alarm may be older than one set for an earlier deadline, which then stays set.
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
            // The queue of a timeout that a reload has changed must not stay forever.
            state.queues.removeAll { $0.entries.isEmpty && $0.livingCount == 0 }
            return due
        }
    }
}
