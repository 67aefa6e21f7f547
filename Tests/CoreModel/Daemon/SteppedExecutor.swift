import Synchronization

/// Runs tasks only where it is told to, on the thread that tells it: what they do is the same each time.
final class SteppedExecutor: TaskExecutor {
    private struct State: @unchecked Sendable {
        // Sendable because a job is only handed on, and run once.
        var jobs: [UnownedJob] = []
    }

    private let state = Mutex(State())

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        state.withLock { $0.jobs.append(job) }
    }

    /// Runs what there is to run, and what comes of it.
    func runAll() {
        while true {
            let jobs = state.withLock { state in
                defer { state.jobs = [] }
                return state.jobs
            }
            if jobs.isEmpty { return }
            for job in jobs { job.runSynchronously(on: asUnownedTaskExecutor()) }
        }
    }
}
