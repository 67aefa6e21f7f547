internal import DequeModule

/// The threads that run the tasks of this process.
///
/// Swift's own are libdispatch's, see ``AlarmThread`` for what those cost. A task that is started with this executor
/// hands it on to its children.
public final class ThreadPool: TaskExecutor {
    private struct State: @unchecked Sendable {
        // Sendable because a job is only handed on, and run once.
        var jobs = Deque<UnownedJob>()
        var taken = 0
    }

    private let monitor = Monitor(State())

    /// Starts the threads.
    /// - Returns: nil where none can be started.
    public init?(name: String, count: Int) {
        var started = 0
        for _ in 0..<count where PThread.start(name, { self.run() }) == 0 { started += 1 }
        if started == 0 { return nil }
    }

    public func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        monitor.withLock { $0.jobs.append(job) }
        monitor.notifyOne()
    }

    /// The jobs that wait, and those taken since the start: where some wait and none are taken, all threads are stuck.
    public var progress: (waiting: Int, taken: Int) {
        monitor.withLock { ($0.jobs.count, $0.taken) }
    }

    private func run() {
        while true {
            let job = monitor.wait { state -> Monitor<State>.Verdict<UnownedJob> in
                guard let job = state.jobs.popFirst() else { return .wait(until: nil) }
                state.taken += 1
                return .go(job)
            }
            job.runSynchronously(on: asUnownedTaskExecutor())
        }
    }
}
