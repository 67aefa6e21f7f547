internal import DequeModule

/// The threads that run the tasks of this process.
///
/// They replace libdispatch's threads, whose cost is described at ``AlarmThread``. A task started with this executor
/// passes it to its child tasks.
package final class ThreadPool: TaskExecutor {
    private struct State: @unchecked Sendable {
        // Sendable because a job is only passed on, and run once.
        var jobs = Deque<UnownedJob>()
        var taken = 0
    }

    private let monitor = Monitor(State())

    /// Starts the threads.
    /// - Returns: nil if none can be started.
    package init?(name: String, count: Int) {
        var started = 0
        for _ in 0..<count where PThread.start(name, { self.run() }) == 0 { started += 1 }
        if started == 0 { return nil }
    }

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        monitor.withLock { $0.jobs.append(job) }
        monitor.notifyOne()
    }

    /// The waiting jobs, and the number taken since the start. If jobs wait and none are taken, all threads are stuck.
    package var progress: (waiting: Int, taken: Int) {
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
