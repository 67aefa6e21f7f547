internal import CLinux
internal import Glibc
internal import JSON
internal import Linux

/// A confined process that parses texts, one after the other. Nothing here blocks: its owner polls.
///
/// The processor time of a text is limited there, by a timer of the kernel; what this process cannot rely on (wall-clock
/// time and memory of a parser that somebody has taken over) is limited here.
public final class CheckProcess {
    /// The socket's number in the process.
    public static let channel: Int32 = 3
    /// The environment variable that tells the process who has started it.
    public static let hostVariable = "QUICKCONNECT_CHECK_HOST"
    /// What it is started with, after its path.
    public static let flag = "--check-texts"
    /// The processor time that one text may take.
    public static let seconds = 1.0

    /// The time from the job to its answer, on a device that is busy with other things.
    private static let timeout = Duration.seconds(20)
    private static let memoryBytes = 256 << 20
    /// How often the memory is looked at.
    private static let period = Duration.milliseconds(50)
    /// How often one that has closed its socket is asked whether it has ended.
    static let endPeriod = Duration.milliseconds(5)
    private static let answerBytes = 64 << 10

    let pid: pid_t
    private let descriptor: Int32
    private var output: [UInt8] = []
    private var sent = 0
    private var input: [UInt8] = []
    private var job: Job?
    private(set) var idleSince = ContinuousClock.now
    /// Whether it has closed its socket, or was killed: it ends.
    private var isClosed = false
    /// How it ended, as waitpid(2) gives it; nil while it has not.
    private var status: Int32?

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
        guard let child = ChannelProcess.start([program, Self.flag], variables, channel: Self.channel) else {
            return nil
        }
        (pid, descriptor) = child
    }

    deinit {
        kill()
        // Who lets go of it before ``reap()`` has said that it has ended may wait.
        if status == nil { while waitpid(pid, nil, 0) < 0, errno == EINTR {} }
        close(descriptor)
    }

    /// Ends it. It is gone when ``reap()`` says so.
    func kill() {
        isClosed = true
        // What has ended it before stays the reason.
        if status == nil { Glibc.kill(pid, SIGKILL) }
    }

    /// Whether it has ended. Until then its process id is its own.
    func reap() -> Bool {
        guard status == nil else { return true }
        var code: Int32 = 0
        let result = waitpid(pid, &code, WNOHANG)
        if result == pid || result < 0 && errno == ECHILD { status = code }
        return status != nil
    }

    var isBusy: Bool { job != nil }

    /// What to wait for in poll(2).
    var poll: pollfd {
        let events = output.isEmpty ? POLLIN : POLLIN | POLLOUT
        return pollfd(fd: isClosed ? -1 : descriptor, events: Int16(events), revents: 0)
    }

    /// When to call ``advance(to:)`` again without an event.
    var nextMoment: ContinuousClock.Instant? {
        job.map { min($0.deadline, .now + (isClosed ? Self.endPeriod : Self.period)) }
    }

    func begin(_ text: CheckedText) {
        let job = Job(bytes: text.text.utf8.count)
        self.job = job
        output = Array(text.line(job.number).utf8)
        sent = 0
        _ = write()
    }

    /// Writes and reads what can be, and looks at the limits. Nil while there is no answer.
    func advance(to now: ContinuousClock.Instant) -> Outcome? {
        if !isClosed, !(write() && read()) { kill() }
        guard let job else { return isClosed || !input.isEmpty ? broken(nil, at: now) : nil }
        if let end = input.firstIndex(of: UInt8(ascii: "\n")) {
            return answered(input[..<end], job) ?? broken(job, at: now)
        }
        if isClosed, let outcome = ended(job, at: now) { return outcome }
        if job.deadline <= now {
            kill()
            let reason = "it is not checked within \(Int(Self.timeout / .seconds(1))) s: this device is busy"
            return Outcome(verdict: .unchecked(reason), seconds: Self.seconds, isOver: true)
        }
        guard !isClosed, ProcessFile.residentBytes(of: "\(pid)") > Self.memoryBytes else { return nil }
        kill()
        return Self.dear("it takes more than \(Self.memoryBytes >> 20) MiB of memory to check it")
    }

    /// Nil if it is no answer, or has something behind it.
    private func answered(_ line: ArraySlice<UInt8>, _ job: Job) -> Outcome? {
        guard line.endIndex == input.count - 1,
            let members = (try? JSONParser.parse(String(decoding: line, as: UTF8.self)))?.objectValue,
            let verdict = CheckVerdict(members, of: job.number, bytes: job.bytes),
            let seconds = members["seconds"]?.numberValue
        else { return nil }
        input = []
        self.job = nil
        idleSince = .now
        return Outcome(verdict: verdict, seconds: min(max(seconds, 0), Self.seconds))
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
        guard reap(), let status else { return nil }
        switch status & 0x7f {
        case SIGPROF, SIGXCPU: return Self.dear("checking it takes longer than a second of processor time")
        case 0, SIGKILL:
            var outcome = broken(job, at: now)
            outcome.verdict = .unchecked("its parser has ended")
            return outcome
        case let signal: return Self.dear("checking it ended its parser with signal \(signal)")
        }
    }

    private static func dear(_ message: String) -> Outcome {
        Outcome(verdict: .mistake(["message": .string(message)]), seconds: seconds, isOver: true)
    }

    /// The time since a text began, as far as it counts as processor time.
    private static func seconds(of job: Job?, to now: ContinuousClock.Instant) -> Double {
        job.map { min($0.began.duration(to: now) / .seconds(1), seconds) } ?? 0
    }

    /// False if it is gone.
    private func write() -> Bool {
        while sent < output.count {
            let flags = Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT)
            let count = output.withUnsafeBytes { bytes in
                send(descriptor, bytes.baseAddress?.advanced(by: sent), bytes.count - sent, flags)
            }
            if count < 0, errno == EINTR { continue }
            if count < 0, errno == EAGAIN { return true }
            guard count > 0 else { return false }
            sent += count
        }
        output = []
        sent = 0
        return true
    }

    /// False if it is gone, or sends more than an answer.
    private func read() -> Bool {
        var buffer = [UInt8](repeating: 0, count: 4096)
        while input.count < Self.answerBytes {
            let count = recv(descriptor, &buffer, buffer.count, Int32(MSG_DONTWAIT))
            if count < 0, errno == EINTR { continue }
            if count < 0, errno == EAGAIN { return true }
            guard count > 0 else { return input.contains(UInt8(ascii: "\n")) }
            input += buffer[..<count]
        }
        return false
    }
}
