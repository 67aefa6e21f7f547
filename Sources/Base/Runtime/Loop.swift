internal import CLinux
internal import Concurrency
internal import Glibc
package import Linux
internal import Synchronization

/// What happens to a descriptor.
package struct Readiness: OptionSet, Sendable {
    package let rawValue: UInt32

    package init(rawValue: UInt32) { self.rawValue = rawValue }

    /// There is something to read, or an end of it.
    package static let input = Readiness(rawValue: qc_poll_input)
    /// There is room for output.
    package static let output = Readiness(rawValue: qc_poll_output)
    /// The other side sends nothing more.
    package static let inputEnd = Readiness(rawValue: qc_poll_input_end)
    /// The other side is gone. It is told without being asked for.
    package static let end = Readiness(rawValue: qc_poll_end)
    /// It is told once each time that it changes, and not as long as it lasts (EPOLLET).
    package static let changes = Readiness(rawValue: qc_poll_changes)
}

/// Who is told what happens to a descriptor. On the loop's thread.
package protocol DescriptorWatcher: AnyObject {
    func ready(_ readiness: Readiness)
}

/// One thread that waits for descriptors, deadlines and the work of other threads (epoll(7)), and otherwise never blocks.
///
/// Each time around it takes what other threads have given it, then the descriptors that are ready, then the deadlines that have
/// come, and last one turn of what goes on for long (``turn``).
package final class Loop: @unchecked Sendable {
    // Sendable because all but `shared`, `running` and the descriptors, which do not change, is used on its thread only.
    private struct Shared {
        var jobs: [@Sendable () -> Void] = []
        var isAwake = false
        var isOver = false
    }

    private struct Slot {
        var watcher: (any DescriptorWatcher)?
        /// Tells an event of a descriptor that is closed meanwhile from one of the next with its number.
        var generation: UInt32 = 0
    }

    private let shared = Mutex(Shared())
    private let poll: Int32
    private let waking: Int32
    private let running = Atomic<UInt>(0)
    private let ended = Deferred<Void, Interruption>()
    private var slots: [Slot] = []
    private var deadlines = LoopDeadlines()
    private let events = UnsafeMutableBufferPointer<qc_poll_event>.allocate(capacity: maxEvents)

    /// One turn of what goes on for long: returns whether more is to be done at once, after the next look at the descriptors.
    package var turn: () -> Bool = { false }
    /// What the time was when the descriptors were last looked at.
    package private(set) var polled = LoopTime.now()

    /// How much later it is for the loop's deadlines than the clock says: tests let time pass by it.
    package var lead = LoopSpan.zero

    private static let maxEvents = 256
    private static let wakingID = UInt64.max

    /// Throws if the process has no descriptors left.
    package init() throws(SystemCallError) {
        poll = try SystemCallError.check("epoll_create1") { qc_poll_create() }
        waking = try SystemCallError.check("eventfd") { qc_event_descriptor() }
        try SystemCallError.check("epoll_ctl") {
            qc_poll_control(poll, qc_poll_add, waking, qc_poll_input, Self.wakingID)
        }
    }

    deinit {
        events.deallocate()
        Glibc.close(poll)
        Glibc.close(waking)
    }

    // MARK: From any thread

    /// Whether this is the loop's thread.
    package var isCurrent: Bool {
        @inline(__always) get { running.load(ordering: .relaxed) == UInt(pthread_self()) }
    }

    /// Has the loop run something, after what it has been given before.
    package func execute(_ job: @escaping @Sendable () -> Void) {
        shared.withLock { shared in
            shared.jobs.append(job)
            wake(&shared)
        }
    }

    /// Has a thread of its own run it, until ``close()``.
    package func start(_ name: String) throws(SystemCallError) {
        let ended = ended
        let code = PThread.start(name) {
            self.run()
            ended.fulfil(())
        }
        if code != 0 { throw SystemCallError("pthread_create", code) }
    }

    /// Ends its thread when what the loop has been given is done.
    package func close() async {
        stop()
        try? await ended.value()
    }

    /// Ends ``run()`` when what the loop has been given is done.
    package func stop() {
        shared.withLock { shared in
            shared.isOver = true
            wake(&shared)
        }
    }

    /// Under the lock: the flag and the kernel's counter must not tell different things, or the loop would not sleep any more.
    private func wake(_ shared: inout Shared) {
        guard !shared.isAwake else { return }
        shared.isAwake = true
        var one: UInt64 = 1
        _ = write(waking, &one, MemoryLayout.size(ofValue: one))
    }

    // MARK: On the loop

    /// Does something later; before the loop runs, also on the thread that will run it.
    package func after(_ span: LoopSpan, _ body: @escaping () -> Void) -> LoopDeadline {
        deadlines.add(at: now + span, body)
    }

    /// Does something again and again, first at once.
    package func repeatEvery(_ span: LoopSpan, _ body: @escaping () -> Void) {
        body()
        _ = after(span) { self.repeatEvery(span, body) }
    }

    /// Watches a descriptor until ``forget(_:)``, which comes before it is closed.
    package func watch(_ descriptor: Int32, for readiness: Readiness, _ watcher: any DescriptorWatcher)
        throws(SystemCallError)
    {
        let index = Int(descriptor)
        while slots.count <= index { slots.append(Slot()) }
        slots[index].watcher = watcher
        slots[index].generation &+= 1
        do throws(SystemCallError) { try control(qc_poll_add, descriptor, readiness) } catch {
            slots[index].watcher = nil
            throw error
        }
    }

    /// Watches it for something else. What is the case already is told again.
    package func change(_ descriptor: Int32, to readiness: Readiness) {
        guard slots.indices.contains(Int(descriptor)) else { return }
        // It fails only for one that is not watched.
        try? control(qc_poll_change, descriptor, readiness)
    }

    package func forget(_ descriptor: Int32) {
        // None is watched any more after the end.
        guard slots.indices.contains(Int(descriptor)) else { return }
        slots[Int(descriptor)].watcher = nil
        try? control(qc_poll_remove, descriptor, [])
    }

    private func control(_ operation: Int32, _ descriptor: Int32, _ readiness: Readiness) throws(SystemCallError) {
        let id = UInt64(slots[Int(descriptor)].generation) << 32 | UInt64(UInt32(bitPattern: descriptor))
        try SystemCallError.check("epoll_ctl") {
            qc_poll_control(poll, operation, descriptor, readiness.rawValue, id)
        }
    }

    /// Works until ``stop()``, on the thread that is then the loop's.
    package func run() {
        var hasMore = false
        repeat { hasMore = runOnce(waits: !hasMore) } while !isOver
        running.store(0, ordering: .relaxed)
        (slots, deadlines, turn) = ([], LoopDeadlines(), { false })
    }

    /// Goes around once, on the thread that is then the loop's.
    /// - Parameter waits: whether it sleeps until there is something to do.
    /// - Returns: whether there is more to do at once.
    package func runOnce(waits: Bool) -> Bool {
        running.store(UInt(pthread_self()), ordering: .relaxed)
        let count = wait(waits: waits)
        polled = now
        runJobs()
        for index in 0..<count { handle(events[index]) }
        while let body = deadlines.next(at: polled) { body() }
        return turn()
    }

    private var now: LoopTime { .now() + lead }

    private var isOver: Bool { shared.withLock { $0.isOver && $0.jobs.isEmpty } }

    private func wait(waits: Bool) -> Int {
        let mustWait = waits && shared.withLock { $0.jobs.isEmpty }
        let time = mustWait ? milliseconds(until: deadlines.first()) : 0
        // EINTR: no signal is handled on this thread, but a debugger stops it.
        return max(Int(qc_poll_wait(poll, events.baseAddress, Int32(events.count), time)), 0)
    }

    /// Rounded up, so that the time has come afterwards; -1 means forever.
    private func milliseconds(until time: LoopTime?) -> Int32 {
        guard let time else { return -1 }
        let left = max((time - now).nanoseconds, 0)
        return Int32(clamping: (left + 999_999) / 1_000_000)
    }

    private func handle(_ event: qc_poll_event) {
        guard event.id != Self.wakingID else { return }
        let index = Int(UInt32(truncatingIfNeeded: event.id))
        guard slots[index].generation == UInt32(event.id >> 32) else { return }
        slots[index].watcher?.ready(Readiness(rawValue: event.events))
    }

    private func runJobs() {
        let jobs = shared.withLock { shared -> [@Sendable () -> Void] in
            guard shared.isAwake else { return [] }
            var count: UInt64 = 0
            _ = read(waking, &count, MemoryLayout.size(ofValue: count))
            shared.isAwake = false
            defer { shared.jobs = [] }
            return shared.jobs
        }
        for job in jobs { job() }
    }
}

/// What belongs to a loop's thread, on its way through another thread.
package struct LoopBound<Value>: @unchecked Sendable {
    // Sendable because the value is used on the loop only.
    private let bound: Value
    private let loop: Loop

    package init(_ value: Value, on loop: Loop) { (bound, self.loop) = (value, loop) }

    package var value: Value {
        assert(loop.isCurrent)
        return bound
    }
}
