internal import Concurrency
internal import QuickConnect
internal import Synchronization

/// Lets users take turns on one thread, and the connections of each user: each user has at most one job in the thread's
/// queue, and the others wait here. So one user delays another by at most one job, with however many connections.
final class MediaTurns: Sendable {
    private let thread: WatchedThread
    /// The waiting jobs of each user who has one on the thread.
    private let waiting = Mutex<[Owner: Ring<ObjectIdentifier, WatchedThread.Job>]>([:])

    init(on thread: WatchedThread) { self.thread = thread }

    /// Never blocks.
    /// - Parameter client: the connection. Its jobs run in their order.
    func add(_ job: WatchedThread.Job, of client: ObjectIdentifier, _ user: Owner) {
        let isNext = waiting.withLock { waiting in
            guard waiting[user] == nil else {
                waiting[user]?.append(job, of: client)
                return false
            }
            waiting[user] = Ring()
            return true
        }
        if isNext { start(job, of: user) }
    }

    private func start(_ first: WatchedThread.Job, of user: Owner) {
        var next: WatchedThread.Job? = first
        while let job = next {
            let turn = Turn(turns: self, user: user)
            let watched = WatchedThread.Job(
                step: job.step,
                work: {
                    job.work()
                    turn.end()
                },
                giveUp: { (error: Interruption) in
                    job.giveUp(error)
                    turn.end()
                }
            )
            do throws(Interruption) {
                try thread.start(watched)
                return
            } catch {
                job.giveUp(error)
                next = takeNext(of: user)
            }
        }
    }

    fileprivate func goOn(_ user: Owner) {
        if let next = takeNext(of: user) { start(next, of: user) }
    }

    private func takeNext(of user: Owner) -> WatchedThread.Job? {
        waiting.withLock { waiting in
            if let next = waiting[user]?.next() { return next }
            waiting[user] = nil
            return nil
        }
    }
}

/// One job's turn. It ends only once, although a job that was given up still finishes.
private final class Turn: Sendable {
    private let turns: MediaTurns
    private let user: Owner
    private let isOver = Atomic(false)

    init(turns: MediaTurns, user: Owner) { (self.turns, self.user) = (turns, user) }

    func end() {
        if !isOver.exchange(true, ordering: .relaxed) { turns.goOn(user) }
    }
}
