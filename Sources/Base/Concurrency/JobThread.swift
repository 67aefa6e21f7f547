internal import Synchronization

/// What the thread of a ``JobThread`` has, and nobody else uses.
package protocol TurnTaker: SendableMetatype {
    /// Does what is due, and sleeps until something is, or the waker is used.
    func turn(_ waker: Waker)
}

/// A thread that sleeps on descriptors, and runs what others ask of it in between. It starts with the first job.
package final class JobThread<Taker: TurnTaker>: Sendable {
    package typealias Job = @Sendable (Taker) -> Void

    private struct State {
        var jobs: [Job] = []
        var isRunning = false
        var isOver = false
    }

    private let name: String
    private let state = Mutex(State())
    private let waker = try? Waker()

    /// - Parameter name: shown by `top -H`.
    package init(_ name: String) { self.name = name }

    package var isRunning: Bool { state.withLock { $0.isRunning } }

    /// Appends a job, unless the thread is over. Throws if it cannot be started; then what waits is dropped.
    /// - Parameter make: called on the thread, once it has started.
    package func run(_ job: @escaping Job, _ make: @escaping @Sendable () -> Taker) throws(Interruption) {
        let begins = state.withLock { state in
            guard !state.isOver else { return false }
            state.jobs.append(job)
            defer { state.isRunning = true }
            return !state.isRunning
        }
        guard begins else { return waker?.wake() ?? () }
        do throws(Interruption) {
            guard let waker else { throw Interruption(.unavailable, "the process has no file descriptors left") }
            try PThread.run(name) { self.loop(make(), waker) }
        } catch {
            state.withLock { ($0.isRunning, $0.jobs) = (false, []) }
            throw error
        }
    }

    /// What the thread answers; nil if it does not in time, or is not running.
    /// - Parameter isLast: whether what comes later is not run any more.
    @discardableResult
    package func ask<Answer: Sendable>(
        within time: Duration,
        isLast: Bool = false,
        _ question: @escaping @Sendable (Taker) -> Answer
    ) async -> Answer? {
        let answer = Deferred<Answer, Interruption>()
        let isAsked = state.withLock { state in
            guard !state.isOver else { return false }
            state.isOver = isLast
            if state.isRunning { state.jobs.append { answer.fulfil(question($0)) } }
            return state.isRunning
        }
        guard isAsked else { return nil }
        waker?.wake()
        return try? await answer.value(before: .now + time)
    }

    private func loop(_ owner: Taker, _ waker: Waker) {
        while true {
            let (jobs, isOver) = state.withLock { state in
                defer { state.jobs = [] }
                return (state.jobs, state.isOver)
            }
            for job in jobs { job(owner) }
            if isOver { break }
            owner.turn(waker)
        }
        state.withLock { $0.isRunning = false }
    }
}
