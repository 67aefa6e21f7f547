internal import Concurrency
internal import Configuration
internal import Glibc
internal import JSON
internal import Linux
internal import QuickConnect
internal import QuickConnectClient

/// The processes that run procedures, and the queue of jobs, in which the callers take turns.
final class WorkerPool {
    /// What became of a job.
    enum Answer {
        case result(HandlerCall, Result<JSONValue, HandlerCall.Failure>)
        /// A line that another thread should parse (``WorkerProcess/result(ofLine:)``).
        case line(HandlerCall, [UInt8])
    }

    private struct Waiting {
        let call: HandlerCall
        let job: ProcedureJob
        let peer: ProcedureCaller
        let hold: EventRecorder.Hold?
    }

    private let settings: ProcedureSettings
    private let command: [String]
    private let environment: [String: String]
    private let queue: AnswerQueue
    /// What a process may open that begins now.
    private let ground: () -> Ground
    private var workers: [WorkerProcess] = []
    /// Those that were killed and have not ended yet.
    private var ending: [WorkerProcess] = []
    private var waiting = Ring<ProcedureCaller, Waiting>()
    private var peers: [HandlerCall.Number: ProcedureCaller] = [:]
    private var counts = Budget<ProcedureCaller>(limit: WorkerPool.maxWaiting, minimum: 8)
    private var bytes = Budget<ProcedureCaller>(limit: WorkerPool.maxBytes, minimum: 1 << 16)
    private var answers: [Answer] = []
    /// How many of the events nobody has to wait for.
    private var settled = 0
    /// What the newest of the jobs that wait for events waits for.
    private var hold: EventRecorder.Hold?

    /// The most jobs that may wait; of one caller a quarter of that.
    static let maxWaiting = 1024
    /// The most bytes that they may have.
    static let maxBytes = 48 << 20
    /// How often the time and memory of running jobs are checked.
    private static let period = Duration.milliseconds(20)
    /// When memory and time of the workers are looked at next.
    private var nextWatch = ContinuousClock.now
    /// The extra time in which a worker can itself report where it was.
    private static let grace = Duration.milliseconds(500)
    /// A process that is idle for this long is ended, to free its memory.
    private static let idleTime = Duration.seconds(30)

    /// - Parameter queue: where the answers will wait. Who has its share of them gets its next turn later.
    init(
        _ settings: ProcedureSettings,
        _ command: [String],
        _ environment: [String: String],
        _ queue: AnswerQueue,
        ground: @escaping () -> Ground
    ) {
        self.ground = ground
        self.settings = settings
        self.command = command
        self.environment = environment
        self.queue = queue
    }

    /// How many run, and how many wait.
    var load: (running: Int, waiting: Int) { (workers.count { !$0.isIdle }, waiting.count) }

    /// The callers with the most procedures that wait, at most 8, the first one most of all.
    var largest: [(caller: String, waiting: Int)] { counts.largest(8).map { ($0.peer.name, $0.used) } }

    // MARK: Jobs

    /// - Parameter hold: what it waits for before its turn.
    func submit(_ call: HandlerCall, _ job: ProcedureJob, _ hold: EventRecorder.Hold?) {
        let peer = ProcedureCaller(call)
        guard counts.has(1, for: peer, peer.share), bytes.has(job.line.count, for: peer, peer.share) else {
            return fail(
                call,
                .overloaded,
                "\(counts.used(by: peer)) procedures of this caller, and \(waiting.count) of all callers, wait already"
            )
        }
        count(job, of: peer)
        peers[call.number] = peer
        var call = call
        // The line has them.
        call.data = .null
        waiting.append(Waiting(call: call, job: job, peer: peer, hold: hold), of: peer)
        self.hold = hold ?? self.hold
        startWaiting()
    }

    /// So many of the events nobody has to wait for.
    func goOn(_ settled: Int) {
        self.settled = settled
        startWaiting()
    }

    private func count(_ job: ProcedureJob, of peer: ProcedureCaller, _ sign: Int = 1) {
        counts.add(sign, to: peer)
        bytes.add(sign * job.line.count, to: peer)
    }

    private func isOver(_ one: Waiting) {
        peers[one.call.number] = nil
        count(one.job, of: one.peer, -1)
    }

    /// Nobody waits for the answer of a call any more.
    func cancel(_ number: HandlerCall.Number) {
        if let peer = peers[number] {
            waiting.removeAll(of: peer) { one in
                guard one.call.number == number else { return false }
                isOver(one)
                return true
            }
        }
        drop { $0.task?.call.number == number }
        startWaiting()
    }

    private func startWaiting() {
        let now = ContinuousClock.now
        if hold?.isOver(settled, at: now) ?? true { hold = nil }
        while !waiting.isEmpty {
            // A caller of whom none runs has one place more, so that nobody waits for the long ones of another.
            let running = Set(workers.compactMap(\.task?.peer))
            let places = settings.parallel - workers.count { !$0.isIdle }
            let held = hold == nil ? [] : waiting.peers { !($0.hold?.isOver(settled, at: now) ?? true) }
            let fits: (ProcedureCaller) -> Bool = { [queue] peer in
                (places > 0 || places == 0 && !running.contains(peer)) && !queue.isFull(for: peer.name)
                    && !held.contains(peer)
            }
            guard waiting.contains(where: fits), let worker = idleWorker(), let next = waiting.next(where: fits) else {
                return
            }
            isOver(next)
            start(next, worker)
        }
    }

    private func start(_ next: Waiting, _ worker: WorkerProcess) {
        var worker: WorkerProcess? = worker
        while let one = worker {
            let task = WorkerProcess.Task(call: next.call, name: next.job.name, peer: next.peer)
            if one.run(next.job.line, task) { return }
            // It was ended from outside while idle: another one does the job.
            drop { $0 === one }
            worker = idleWorker()
        }
        fail(next.call, .unavailable, "no process for a procedure can be started")
    }

    private func idleWorker() -> WorkerProcess? {
        let ground = ground()
        // Another set of procedures may have come, or another file of the data.
        drop { $0.isIdle && $0.ground != ground }
        if let worker = workers.first(where: { $0.isIdle && !$0.child.isClosed }) { return worker }
        guard workers.count <= settings.parallel else { return nil }
        guard let worker = WorkerProcess(command, environment, ground) else {
            if workers.isEmpty { failWaiting(.unavailable, "no process for a procedure can be started") }
            return nil
        }
        workers.append(worker)
        return worker
    }

    private func fail(_ call: HandlerCall, _ code: CommandError.Code, _ message: String) {
        answers.append(.result(call, .failure(HandlerCall.Failure(code, message))))
    }

    private func failWaiting(_ code: CommandError.Code, _ message: String) {
        while let next = waiting.next() {
            isOver(next)
            fail(next.call, code, message)
        }
    }

    // MARK: In the loop

    var events: [pollfd] { workers.map(\.child.poll) }

    /// When it must check again without an event.
    var nextMoment: ContinuousClock.Instant? {
        if hold != nil || !ending.isEmpty || workers.contains(where: { !$0.isIdle || $0.child.isClosed }) {
            return .now + Self.period
        }
        return workers.map { $0.idleSince + Self.idleTime }.min()
    }

    /// The results of jobs since the last time.
    func takeAnswers() -> [Answer] {
        defer { answers = [] }
        return answers
    }

    func advance() {
        for worker in workers {
            worker.child.flush()
            if let news = worker.read() { handle(news, of: worker) }
        }
        // Not at each turn of the loop: each look opens a file of the kernel's.
        if nextWatch <= .now {
            nextWatch = .now + Self.period
            for worker in workers { watch(worker) }
        }
        drop { $0.isIdle && $0.idleSince + Self.idleTime <= .now }
        ending.removeAll { $0.child.reap() }
        startWaiting()
    }

    private func handle(_ news: WorkerProcess.News, of worker: WorkerProcess) {
        switch news {
        case .answer(let answer): answers.append(answer)
        case .ended(let task, let end):
            if let task { fail(task.call, .scriptFailed, "\(task.name) has no answer: \(end)") }
            return drop { $0 === worker }
        }
        // Memory that the garbage collector has not freed by now stays in use.
        if worker.isSpent || worker.child.memoryBytes > settings.memoryBytes / 4 * 3 { drop { $0 === worker } }
    }

    private func watch(_ worker: WorkerProcess) {
        guard let task = worker.task else { return }
        if worker.child.memoryBytes > settings.memoryBytes {
            fail(
                task.call,
                .scriptFailed,
                "\(task.name) uses more than \(settings.memoryBytes >> 20) MiB (procedures: memoryBytes)"
            )
        } else if .now - task.began > .seconds(settings.seconds) + Self.grace {
            fail(task.call, .timeout, ProcedureError.late(task.name, settings.seconds).message)
        } else {
            return
        }
        drop { $0 === worker }
    }

    /// Kills processes, which are reaped when they have ended.
    private func drop(where fits: (WorkerProcess) -> Bool) {
        let dropped = workers.filter(fits)
        for worker in dropped {
            worker.child.kill()
            if !worker.child.reap() { ending.append(worker) }
        }
        workers.removeAll { worker in dropped.contains { $0 === worker } }
    }

    /// Ends all workers; waiting callers are told.
    func end() {
        let message = "the service of procedures is being stopped"
        for call in workers.compactMap(\.task?.call) { fail(call, .unavailable, message) }
        failWaiting(.unavailable, message)
        drop { _ in true }
    }
}
