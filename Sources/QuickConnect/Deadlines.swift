import DequeModule
import Synchronization

/// The deadlines of the waiting calls: one task sleeps until the first of them.
final class Deadlines: Sendable {
    private typealias Instant = ContinuousClock.Instant

    /// Calls with the same timeout come due in the order they began, so they need no sorting. Those that are over
    /// stay until they are the first, or until there are more of them than others.
    private final class Queue {
        let timeout: Duration
        var entries = Deque<(instant: Instant, call: any PendingCall)>()
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
        var isFinished = false
        /// What wakes the sleeper, and when it wakes by itself.
        var bell: Promise<Void>?
        var wakesAt: Instant?

        mutating func queue(_ timeout: Duration) -> Queue {
            if let queue = queues.first(where: { $0.timeout == timeout }) { return queue }
            let queue = Queue(timeout)
            queues.append(queue)
            return queue
        }
    }

    private let state = Mutex(State())

    func add(_ call: any PendingCall) {
        guard let timeout = call.timeout else { return }
        let instant = Instant.now + timeout
        let bell = state.withLock { state -> Promise<Void>? in
            let queue = state.queue(timeout)
            queue.entries.append((instant, call))
            queue.livingCount += 1
            // The sleeper is woken only for what comes before all others, so hardly ever.
            guard state.wakesAt.map({ instant < $0 }) ?? true else { return nil }
            defer { state.bell = nil }
            return state.bell
        }
        bell?.fulfil(())
    }

    /// A call is over.
    func didEnd(_ call: any PendingCall) {
        guard let timeout = call.timeout else { return }
        state.withLock { state in
            let queue = state.queue(timeout)
            queue.livingCount -= 1
            queue.removeOver()
        }
    }

    /// Ends the calls whose time is over, until ``finish()``.
    func run() async {
        while let (bell, instant) = nextSleep() {
            if let instant { _ = try? await bell.value(before: instant) } else { _ = try? await bell.value() }
            if Task.isCancelled { return }
            for call in takeDue() { call.endWithTimeout() }
        }
    }

    func finish() {
        let bell = state.withLock { state in
            state.isFinished = true
            return state.bell
        }
        bell?.fulfil(())
    }

    private func nextSleep() -> (Promise<Void>, Instant?)? {
        state.withLock { state in
            guard !state.isFinished else { return nil }
            let bell = Promise<Void>()
            state.bell = bell
            state.wakesAt = state.queues.compactMap { $0.entries.first?.instant }.min()
            return (bell, state.wakesAt)
        }
    }

    private func takeDue() -> [any PendingCall] {
        let now = Instant.now
        return state.withLock { state in
            var due: [any PendingCall] = []
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
