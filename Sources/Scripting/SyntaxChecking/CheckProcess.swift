internal import Glibc
internal import JSON
internal import Linux

/// A confined process that parses texts, one after the other. Nothing here blocks: its owner polls.
///
/// The processor time of a text is limited there, by a timer of the kernel; what this process cannot rely on (wall-clock
/// time and memory of a parser that somebody has taken over) is limited here.
package final class CheckProcess {
    /// The socket's number in the process.
    package static let channel: Int32 = 3
    /// The environment variable that tells the process who has started it.
    package static let hostVariable = "QUICKCONNECT_CHECK_HOST"
    /// What it is started with, after its path.
    package static let flag = "--check-texts"
    /// The processor time that one text may take.
    package static let seconds = 1.0

    /// The time from the job to its answer, on a device that is busy with other things.
    private static let timeout = Duration.seconds(20)
    private static let memoryBytes = 256 << 20
    /// How often the memory is looked at.
    private static let period = Duration.milliseconds(50)
    /// How often one that has closed its socket is asked whether it has ended.
    static let endPeriod = Duration.milliseconds(5)
    private static let answerBytes = 64 << 10

    private let child: Child
    private var job: Job?
    private(set) var idleSince = ContinuousClock.now
    /// What it has said.
    private var answers: [[UInt8]] = []
    /// Whether it has said more than it may.
    private var isLoud = false

    private struct Job {
        /// Its verdict names it. Nobody can know it before.
        let number = Int64.random(in: 1...1 << 53)
        let bytes: Int
        let began = ContinuousClock.now
        var deadline: ContinuousClock.Instant { began + CheckProcess.timeout }
    }

    /// What came of a text.
    struct Outcome {
        var verdict: CheckVerdict
        /// The processor time that it took; where that is not known, the time.
        var seconds: Double
        /// Whether the process can do no more.
        var isOver = false
        /// Whether another process should check the text: this one may have ended or failed because of others before it.
        var isDoubtful = false
    }

    /// - Parameter program: the path of quickconnect-scripts.
    /// - Returns: nil if the system cannot start another process.
    init?(_ program: String, _ environment: [String: String]) {
        var variables = environment
        variables[Self.hostVariable] = "\(getpid())"
        let words = [program, Self.flag]
        guard let child = Child(words, variables, channel: Self.channel, maxLine: Self.answerBytes) else { return nil }
        self.child = child
    }

    /// Ends it. It is gone when ``reap()`` says so.
    func kill() {
        child.closeChannel()
        // What has ended it before stays the reason.
        child.kill()
    }

    /// Whether it has ended.
    func reap() -> Bool { child.reap() }

    var isBusy: Bool { job != nil }

    /// What to wait for in poll(2).
    var poll: pollfd { child.poll }

    /// When to call ``advance(to:)`` again without an event.
    var nextMoment: ContinuousClock.Instant? {
        job.map { min($0.deadline, .now + (child.isClosed ? Self.endPeriod : Self.period)) }
    }

    func begin(_ text: CheckedText) {
        let job = Job(bytes: text.text.utf8.count)
        self.job = job
        child.send(Array(text.line(job.number).utf8))
    }

    /// Writes and reads what can be, and looks at the limits. Nil while there is no answer.
    func advance(to now: ContinuousClock.Instant) -> Outcome? {
        child.flush()
        child.receive { line in
            if case .line(let line) = line { answers.append(Array(line)) } else { isLoud = true }
            return !isLoud && answers.count < 2
        }
        // It may have closed its socket without an end. What has ended it before stays the reason.
        if child.isClosed { child.kill() }
        let isAnswered = !answers.isEmpty || child.pendingCount > 0 || isLoud
        guard let job else { return child.isClosed || isAnswered ? broken(nil, at: now) : nil }
        if !answers.isEmpty || isLoud { return answered(job) ?? broken(job, at: now) }
        if child.isClosed, let outcome = ended(job, at: now) { return outcome }
        if job.deadline <= now {
            kill()
            let reason = "it is not checked within \(Int(Self.timeout / .seconds(1))) s: this device is busy"
            return Outcome(verdict: .unchecked(reason), seconds: Self.seconds, isOver: true)
        }
        guard !child.isClosed, child.memoryBytes > Self.memoryBytes else { return nil }
        kill()
        return Self.dear("it takes more than \(Self.memoryBytes >> 20) MiB of memory to check it")
    }

    /// Nil if it is no answer, or has something behind it.
    private func answered(_ job: Job) -> Outcome? {
        guard !isLoud, child.pendingCount == 0, answers.count == 1,
            let members = (try? JSONParser.parse(String(decoding: answers[0], as: UTF8.self)))?.objectValue,
            let verdict = CheckVerdict(members, of: job.number, bytes: job.bytes),
            let seconds = members["seconds"]?.numberValue
        else { return nil }
        answers = []
        self.job = nil
        idleSince = .now
        return Outcome(verdict: verdict, seconds: min(max(seconds, 0), Self.seconds), isOver: child.isClosed)
    }

    /// It has said what it may not, or ended while it had nothing to do.
    private func broken(_ job: Job?, at now: ContinuousClock.Instant) -> Outcome {
        kill()
        return Outcome(
            verdict: .unchecked("its parser gave no valid answer"),
            seconds: Self.seconds(of: job, to: now),
            isOver: true,
            isDoubtful: true
        )
    }

    /// Its socket is closed. Nil while it has not ended.
    private func ended(_ job: Job, at now: ContinuousClock.Instant) -> Outcome? {
        guard reap(), let end = child.end else { return nil }
        switch end {
        case .signal(SIGPROF), .signal(SIGXCPU):
            return Self.dear("checking it takes longer than a second of processor time")
        case .status, .unknown, .signal(SIGKILL):
            var outcome = broken(job, at: now)
            outcome.verdict = .unchecked("its parser has ended")
            return outcome
        case .signal(let number): return Self.dear("checking it ended its parser with signal \(number)")
        }
    }

    private static func dear(_ message: String) -> Outcome {
        Outcome(verdict: .mistake(["message": .string(message)]), seconds: seconds, isOver: true)
    }

    /// The time since a text began, as far as it counts as processor time.
    private static func seconds(of job: Job?, to now: ContinuousClock.Instant) -> Double {
        job.map { min($0.began.duration(to: now) / .seconds(1), seconds) } ?? 0
    }
}
