internal import Concurrency
internal import DequeModule
internal import QuickConnect
internal import Synchronization

/// Lets clients take turns on one thread: each has at most one job in the thread's queue, and its others wait here. So
/// one client delays another by at most one job.
final class Turns: Sendable {
    struct Job: Sendable {
        /// Such as `reading 'a.wav'`.
        let step: String
        let work: @Sendable () -> Void
        /// Called instead of `work`, or while `work` is blocked.
        let giveUp: @Sendable (CommandError) -> Void
    }

    private let thread: WatchedThread
    /// The waiting jobs of each client that has one on the thread.
    private let waiting = Mutex<[ObjectIdentifier: Deque<Job>]>([:])

    init(on thread: WatchedThread) { self.thread = thread }

    /// Never blocks.
    func add(_ job: Job, of client: ObjectIdentifier) {
        let isNext = waiting.withLock { waiting in
            guard waiting[client] == nil else {
                waiting[client]?.append(job)
                return false
            }
            waiting[client] = []
            return true
        }
        if isNext { start(job, of: client) }
    }

    private func start(_ first: Job, of client: ObjectIdentifier) {
        var next: Job? = first
        while let job = next {
            let turn = Turn(turns: self, client: client)
            let watched = WatchedThread.Job(
                step: job.step,
                work: {
                    job.work()
                    turn.end()
                },
                giveUp: { (error: CommandError) in
                    job.giveUp(error)
                    turn.end()
                }
            )
            do throws(CommandError) {
                try thread.run(watched)
                return
            } catch {
                job.giveUp(error)
                next = takeNext(of: client)
            }
        }
    }

    fileprivate func goOn(_ client: ObjectIdentifier) {
        if let next = takeNext(of: client) { start(next, of: client) }
    }

    private func takeNext(of client: ObjectIdentifier) -> Job? {
        waiting.withLock { waiting in
            if let next = waiting[client]?.popFirst() { return next }
            waiting[client] = nil
            return nil
        }
    }
}

/// One job's turn. It ends only once, although a job that was given up still finishes.
private final class Turn: Sendable {
    private let turns: Turns
    private let client: ObjectIdentifier
    private let isOver = Atomic(false)

    init(turns: Turns, client: ObjectIdentifier) { (self.turns, self.client) = (turns, client) }

    func end() {
        if !isOver.exchange(true, ordering: .relaxed) { turns.goOn(client) }
    }
}
