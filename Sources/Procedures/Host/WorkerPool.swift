internal import Configuration
internal import Glibc
internal import JSON
internal import Linux
internal import QuickConnect
internal import QuickConnectClient

/// The processes that run procedures, and the queue of jobs.
final class WorkerPool {
    typealias Answer = (HandlerCall, Result<JSONValue, HandlerCall.Failure>)

    private struct Waiting {
        let call: HandlerCall
        let name: String
        let job: ProcedureJob
    }

    private let settings: ProcedureSettings
    private let command: [String]
    private let environment: [String: String]
    /// What a process may open that begins now.
    private let ground: () -> Ground
    private var workers: [WorkerProcess] = []
    private var waiting: [Waiting] = []
    private var answers: [Answer] = []

    /// The most jobs that may wait.
    private static let mostWaiting = 256
    /// How often the time and memory of running jobs are checked.
    private static let period = Duration.milliseconds(20)
    /// The extra time in which a worker can itself report where it was.
    private static let grace = Duration.milliseconds(500)
    /// A process that is idle for this long is ended, to free its memory.
    private static let idleTime = Duration.seconds(30)

    init(
        _ settings: ProcedureSettings,
        _ command: [String],
        _ environment: [String: String],
        ground: @escaping () -> Ground
    ) {
        self.ground = ground
        self.settings = settings
        self.command = command
        self.environment = environment
    }

    /// How many run, and how many wait.
    var load: (running: Int, waiting: Int) { (workers.count { !$0.isIdle }, waiting.count) }

    var processes: [pid_t] { workers.map(\.pid) }

    // MARK: Jobs

    func submit(_ call: HandlerCall, _ name: String, _ job: ProcedureJob) {
        guard waiting.count < Self.mostWaiting else {
            return fail(call, .overloaded, "\(Self.mostWaiting) procedures wait already")
        }
        waiting.append(Waiting(call: call, name: name, job: job))
        startWaiting()
    }

    /// Nobody waits for the answer of a call any more.
    func cancel(_ number: HandlerCall.Number) {
        waiting.removeAll { $0.call.number == number }
        workers.removeAll { $0.task?.call.number == number }
        startWaiting()
    }

    private func startWaiting() {
        while !waiting.isEmpty, let worker = idleWorker() {
            let next = waiting.removeFirst()
            if worker.run(next.job, WorkerProcess.Task(call: next.call, name: next.name)) { continue }
            // It was ended from outside while idle: another one does the job.
            workers.removeAll { $0 === worker }
            waiting.insert(next, at: 0)
        }
    }

    private func idleWorker() -> WorkerProcess? {
        let ground = ground()
        // Another set of procedures may have come, or another file of the data.
        workers.removeAll { $0.isIdle && $0.ground != ground }
        if let worker = workers.first(where: \.isIdle) { return worker }
        guard workers.count < settings.parallel else { return nil }
        guard let worker = WorkerProcess(command, environment, ground) else {
            if workers.isEmpty {
                for one in waiting { fail(one.call, .unavailable, "no process for a procedure can be started") }
                waiting = []
            }
            return nil
        }
        workers.append(worker)
        return worker
    }

    private func fail(_ call: HandlerCall, _ code: CommandError.Code, _ message: String) {
        answers.append((call, .failure(HandlerCall.Failure(code, message))))
    }

    // MARK: In the loop

    var descriptors: [Int32] { workers.map(\.descriptor) }

    /// When it must check again without an event.
    var nextMoment: ContinuousClock.Instant? {
        if workers.contains(where: { !$0.isIdle }) { return .now + Self.period }
        return workers.map { $0.idleSince + Self.idleTime }.min()
    }

    /// The results of jobs since the last time.
    func takeAnswers() -> [Answer] {
        defer { answers = [] }
        return answers
    }

    func advance() {
        for worker in workers {
            guard let news = worker.read() else { continue }
            heed(news, of: worker)
        }
        for worker in workers { watch(worker) }
        workers.removeAll { $0.isIdle && $0.idleSince + Self.idleTime <= .now }
        startWaiting()
    }

    private func heed(_ news: WorkerProcess.News, of worker: WorkerProcess) {
        switch news {
        case .answer(let task, let result):
            answers.append((task.call, result))
            // Memory that the garbage collector has not freed by now stays in use.
            if worker.isSpent || worker.residentBytes > settings.memoryBytes / 4 * 3 { drop(worker) }
        case .ended(let task, let end):
            if let task { fail(task.call, .scriptFailed, "\(task.name) has no answer: \(end)") }
            drop(worker)
        }
    }

    private func watch(_ worker: WorkerProcess) {
        guard let task = worker.task else { return }
        if worker.residentBytes > settings.memoryBytes {
            fail(
                task.call,
                .scriptFailed,
                "\(task.name) uses more than \(settings.memoryBytes >> 20) MiB (procedures: memoryBytes)"
            )
            drop(worker)
        } else if .now - task.began > .seconds(settings.seconds) + Self.grace {
            fail(task.call, .timeout, ProcedureError.late(task.name, settings.seconds).message)
            drop(worker)
        }
    }

    private func drop(_ worker: WorkerProcess) { workers.removeAll { $0 === worker } }

    /// Ends all workers; waiting callers are told.
    func end() {
        for call in workers.compactMap(\.task?.call) + waiting.map(\.call) {
            fail(call, .unavailable, "the service of procedures is being stopped")
        }
        (workers, waiting) = ([], [])
    }
}
