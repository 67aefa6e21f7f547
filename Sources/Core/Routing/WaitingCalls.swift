package import Concurrency
import DequeModule
import Synchronization

/// The waiting calls. The operations they await are child tasks of ``run()``; a call that waits for a client's answer
/// needs no task.
public final class WaitingCalls: Sendable {
    typealias Work = @Sendable () async -> Void

    private struct State {
        var count = 0
        var isFinishing = false
        var drains: [Promise<Void>] = []
        /// What cancels the operations that nobody awaits.
        var unawaited: [ObjectIdentifier: Promise<Void>] = [:]
    }

    /// At most so many operations run that nobody awaits. Further ones are left out, so that a flood of interrupted calls
    /// cannot collect them.
    private static let maximumUnawaited = 1024

    private let work: AsyncStream<Work>
    private let continuation: AsyncStream<Work>.Continuation
    private let deadlines: Deadlines
    private let state = Mutex(State())

    /// - Parameter clock: signals the calls' deadlines.
    package init(clock: any AlarmClock) {
        deadlines = Deadlines(clock)
        (work, continuation) = AsyncStream.makeStream()
    }

    /// Runs the calls until ``finish()``, and then those that are still running. Cancelling it cancels the operations
    /// they await.
    public func run() async {
        await withDiscardingTaskGroup { group in
            for await body in work { group.addTask { await body() } }
        }
    }

    /// How many wait, which is 0 when the fuzzers' clients have gone.
    var count: Int { state.withLock(\.count) }

    /// Accepts no more calls: from now on a call that would wait gets `cancelled`.
    public func finish() {
        update { $0.isFinishing = true }
    }

    /// Returns when, after ``finish()``, no call waits any more for its reply, or when the task is cancelled.
    public func drained() async {
        let drain = Promise<Void>()
        update { $0.drains.append(drain) }
        _ = try? await drain.value()
    }

    /// Takes a call that will wait. Where the daemon is stopping it is interrupted at once.
    func take(_ call: WaitingCall) {
        let isFinishing = state.withLock { state in
            state.count += 1
            return state.isFinishing
        }
        call.connection.add(call)
        deadlines.add(call)
        if isFinishing { call.interrupt(Self.stopping) }
    }

    /// Runs the operation that a call awaits.
    func perform(_ body: @escaping Work) { continuation.yield(body) }

    /// Runs an operation that nobody awaits. It is cancelled when all calls have ended after ``finish()``.
    func performUnawaited(_ body: @escaping Work) {
        let end = Promise<Void>()
        let mayRun = state.withLock { state in
            guard state.unawaited.count < Self.maximumUnawaited else { return false }
            state.unawaited[ObjectIdentifier(end)] = end
            return true
        }
        guard mayRun else { return }
        perform { [self] in
            await withTaskGroup(of: Void.self) { group in
                group.addTask { await body() }
                group.addTask { _ = try? await end.value() }
                await group.next()
                group.cancelAll()
            }
            state.withLock { _ = $0.unawaited.removeValue(forKey: ObjectIdentifier(end)) }
        }
    }

    /// The call has had its reply.
    func didEnd(_ call: WaitingCall) {
        deadlines.didEnd(call)
        update { $0.count -= 1 }
    }

    static var stopping: CommandError { CommandError(.cancelled, "the daemon is stopping") }

    private func update(_ change: (inout State) -> Void) {
        let (isFinished, drains) = state.withLock { state -> (Bool, [Promise<Void>]) in
            change(&state)
            guard state.isFinishing, state.count == 0 else { return (false, []) }
            defer { state.drains = [] }
            return (true, state.drains + state.unawaited.values)
        }
        if isFinished { continuation.finish() }
        for drain in drains { drain.fulfil(()) }
    }
}

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
