internal import Glibc
internal import Synchronization

/// A thread for calls that may never return, and a second one that notices when they do not.
///
/// Device libraries have few deadlines: opening a PCM whose sound server is stopped blocks forever, in non-blocking
/// mode too, and such a call cannot be interrupted. So such calls run here, on one thread, one job after the other; a
/// watching thread gives up on a job that reports no progress within the deadline. The blocked thread is then left
/// alone, and until its call returns, new jobs are refused at once: however often callers try, there are only these two
/// threads. When the call does return, the thread takes jobs again.
///
/// Both threads start with the first job and are parked, without any timer, while there is none.
package final class WatchedThread: Sendable {
    package struct Job: Sendable {
        /// Its first step, such as `opening the PCM default`.
        package let step: String
        /// Runs on the thread.
        package let work: @Sendable () -> Void
        /// Runs on the watching thread, instead of `work` or while `work` is blocked.
        package let giveUp: @Sendable (Interruption) -> Void

        package init(
            step: String,
            work: @escaping @Sendable () -> Void,
            giveUp: @escaping @Sendable (Interruption) -> Void
        ) {
            self.step = step
            self.work = work
            self.giveUp = giveUp
        }
    }

    fileprivate enum Worker: Sendable {
        case absent
        case idle
        case busy(Job, step: String, since: SuspendingClock.Instant)
        case stuck(step: String, since: SuspendingClock.Instant)
    }

    fileprivate struct State: Sendable {
        var worker = Worker.absent
        var hasWatcher = false
        var isEnding = false
        var waiting: [(job: Job, since: SuspendingClock.Instant)] = []
        var endings: [@Sendable () -> Void] = []
    }

    private let name: String
    private let subject: String
    private let deadline: Duration
    private let monitor = Monitor(State())

    /// - Parameters:
    ///   - name: the name of the threads, at most 9 bytes; the watching one gets `-watch` appended.
    ///   - subject: what the calls are made to, such as `the sound system`.
    ///   - deadline: how long a job may wait for its turn, and how long one of its calls may take.
    package init(name: String, subject: String, deadline: Duration) {
        self.name = name
        self.subject = subject
        self.deadline = deadline
        let monitor = monitor
        let id = ObjectIdentifier(monitor)
        Self.all.withLock { $0[id] = monitor }
    }

    deinit {
        let id = ObjectIdentifier(monitor)
        Self.all.withLock { $0[id] = nil }
        end {}
    }

    private static let all = Mutex<[ObjectIdentifier: Monitor<State>]>([:])

    /// The steps in which threads of this process have been blocked for longer than that, such as `opening the PCM
    /// default`.
    package static func blocked(longerThan time: Duration) -> [String] {
        let monitors = all.withLock { Array($0.values) }
        return monitors.compactMap { monitor in
            monitor.withLock { state in
                guard case .stuck(let step, let since) = state.worker, since + time < .now else { return nil }
                return step
            }
        }
    }

    /// Appends a job. Exactly one of its functions is run, or both if it is given up midway; none if this throws.
    package func start(_ job: Job) throws(Interruption) {
        let refusal = monitor.withLock { state -> Interruption? in
            if state.isEnding { return Interruption(.cancelled, "this device is being closed") }
            if case .stuck(let step, let since) = state.worker { return self.refusal(step: step, since: since) }
            if let error = startThreads(&state) { return error }
            state.waiting.append((job, .now))
            return nil
        }
        if let refusal { throw refusal }
        monitor.notify()
    }

    /// Reports, on the thread, that the job is alive and what it does next.
    /// - Returns: whether the job is still wanted; if not it should come to its end.
    package func proceed(to step: String) -> Bool {
        monitor.withLock { state in
            guard case .busy(let job, _, _) = state.worker else { return false }
            state.worker = .busy(job, step: step, since: .now)
            return true
        }
    }

    /// Accepts no more jobs.
    /// - Parameter ended: called when running jobs have ended, or at once if one is stuck.
    package func end(_ ended: @escaping @Sendable () -> Void) {
        let isOver = monitor.withLock { state in
            state.isEnding = true
            switch state.worker {
            case .absent, .stuck: return true
            case .idle, .busy:
                state.endings.append(ended)
                return false
            }
        }
        if isOver { ended() }
        monitor.notify()
    }

    /// The same, waiting for it: at most for the deadline, whether or not the waiting task is cancelled.
    package func end() async {
        await withCheckedContinuation { continuation in end { continuation.resume() } }
    }
}

extension WatchedThread {
    private func startThreads(_ state: inout State) -> Interruption? {
        // The threads only hold the monitor, so that `deinit` can end them.
        let monitor = monitor
        let (subject, deadline) = (subject, deadline)
        var code: Int32 = 0
        if !state.hasWatcher {
            code = PThread.start("\(name)-watch") { Self.watch(monitor, subject, deadline) }
            state.hasWatcher = code == 0
        }
        if code == 0, case .absent = state.worker {
            code = PThread.start(name) { Self.work(monitor) }
            if code == 0 { state.worker = .idle }
        }
        guard code != 0 else { return nil }
        return Interruption(.unavailable, "no thread could be started: \(String(cString: strerror(code)))")
    }

    /// The thread itself.
    private static func work(_ monitor: Monitor<State>) {
        while let job = nextJob(monitor) {
            job.work()
            // Released outside the lock: with the job its owner may be released, whose `deinit` takes the lock.
            _ = monitor.withLock { state in
                defer { state.worker = .idle }
                return state.worker
            }
        }
        let endings = monitor.withLock { state in
            state.worker = .absent
            defer { state.endings = [] }
            return state.endings
        }
        monitor.notify()
        for ended in endings { ended() }
    }

    private static func nextJob(_ monitor: Monitor<State>) -> Job? {
        monitor.wait { state in
            if !state.waiting.isEmpty {
                let job = state.waiting.removeFirst().job
                state.worker = .busy(job, step: job.step, since: .now)
                return .go(job)
            }
            return state.isEnding ? .go(nil) : .wait(until: nil)
        }
    }

    /// The watching thread. It wakes when a deadline could have passed, not at every sign of life.
    private static func watch(_ monitor: Monitor<State>, _ subject: String, _ deadline: Duration) {
        while let overdue = nextOverdue(monitor, subject, deadline) {
            for job in overdue.jobs { job.giveUp(overdue.error) }
            for ended in overdue.endings { ended() }
        }
    }

    fileprivate struct Overdue {
        var jobs: [Job]
        var error: Interruption
        var endings: [@Sendable () -> Void] = []
    }

    /// Waits until a deadline passes.
    /// - Returns: the jobs to give up; nil when there will be no more jobs.
    private static func nextOverdue(
        _ monitor: Monitor<State>,
        _ subject: String,
        _ deadline: Duration
    ) -> Overdue? {
        monitor.wait { state in
            if let overdue = state.takeOverdue(at: .now, subject, deadline) { return .go(overdue) }
            switch state.worker {
            case .absent where state.isEnding, .stuck where state.isEnding: return .go(nil)
            default: return .wait(until: state.nextDeadline(deadline))
            }
        }
    }

    private func refusal(step: String, since: SuspendingClock.Instant) -> Interruption {
        let seconds = since.duration(to: .now).components.seconds
        let message = "\(step) has not come back for \(seconds) s; this works again as soon as \(subject) answers"
        return Interruption(.unavailable, message)
    }
}

extension WatchedThread.State {
    /// Removes the jobs that have waited or been blocked for the deadline.
    fileprivate mutating func takeOverdue(
        at now: SuspendingClock.Instant,
        _ subject: String,
        _ deadline: Duration
    ) -> WatchedThread.Overdue? {
        if case .busy(let job, let step, let since) = worker, now >= since + deadline {
            worker = .stuck(step: step, since: since)
            defer { (waiting, endings) = ([], []) }
            let error = Self.timeout(step, subject, deadline)
            return WatchedThread.Overdue(jobs: [job] + waiting.map(\.job), error: error, endings: endings)
        }
        if let first = waiting.first, now >= first.since + deadline {
            waiting.removeFirst()
            return WatchedThread.Overdue(jobs: [first.job], error: Self.timeout(first.job.step, subject, deadline))
        }
        return nil
    }

    /// When a job could be overdue next.
    fileprivate func nextDeadline(_ deadline: Duration) -> SuspendingClock.Instant? {
        var starts = waiting.prefix(1).map(\.since)
        if case .busy(_, _, let since) = worker { starts.append(since) }
        return starts.min().map { $0 + deadline }
    }

    private static func timeout(_ step: String, _ subject: String, _ deadline: Duration) -> Interruption {
        Interruption(.timedOut, "\(step) took more than \(deadline): \(subject) does not answer")
    }
}
