internal import Synchronization

/// What the thread of a ``JobThread`` has, and nobody else uses.
package protocol TurnTaker: SendableMetatype {
    /// Does what is due, and sleeps until something is, or the waker is used.
    func turn(_ waker: Waker)
}

/// A thread that sleeps on descriptors, and runs what others ask of it in between. It starts with the first job.
package final class JobThread<Taker: TurnTaker>: Sendable {
    package typealias Job = @Sendable (Taker) -> Void
    package typealias StartThread =
        @Sendable (_ name: String, _ body: @escaping @Sendable () -> Void) throws(Interruption) -> Void

    private struct State {
        var jobs: [(run: Job, dropped: (@Sendable (Interruption) -> Void)?)] = []
        var isRunning = false
        var isOver = false
    }

    private let name: String
    private let state = Mutex(State())
    private let waker = try? Waker()
    private let startThread: StartThread

    /// - Parameters:
    ///   - name: shown by `top -H`.
    ///   - startThread: as ``PThread/run(_:_:)``.
    package init(_ name: String, startThread: @escaping StartThread = PThread.run) {
        (self.name, self.startThread) = (name, startThread)
    }

    package var isRunning: Bool { state.withLock { $0.isRunning } }

    /// Appends a job, unless the thread is over. Throws if it cannot be started.
    /// - Parameters:
    ///   - dropped: told why the job will not run. Without it a job waits until the thread can be started for a later one.
    ///   - make: called on the thread, once it has started.
    package func run(
        _ job: @escaping Job,
        else dropped: (@Sendable (Interruption) -> Void)? = nil,
        _ make: @escaping @Sendable () -> Taker
    ) throws(Interruption) {
        let (isOver, begins) = state.withLock { state in
            guard !state.isOver else { return (true, false) }
            state.jobs.append((job, dropped))
            defer { state.isRunning = true }
            return (false, !state.isRunning)
        }
        if isOver { dropped?(Interruption(.cancelled, "this device is being closed")) }
        guard begins else { return waker?.wake() ?? () }
        do throws(Interruption) {
            guard let waker else { throw Interruption(.unavailable, "the process has no file descriptors left") }
            try startThread(name) { self.loop(make(), waker) }
        } catch {
            let callers = state.withLock { state in
                let callers = state.jobs.compactMap(\.dropped)
                state.jobs.removeAll { $0.dropped != nil }
                state.isRunning = false
                return callers
            }
            for dropped in callers { dropped(error) }
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
            if state.isRunning { state.jobs.append(({ answer.fulfil(question($0)) }, { answer.fail($0) })) }
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
            for job in jobs { job.run(owner) }
            if isOver { break }
            owner.turn(waker)
        }
        state.withLock { $0.isRunning = false }
    }
}
