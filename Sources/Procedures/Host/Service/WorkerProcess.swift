internal import Glibc
internal import JSON
internal import Linux
internal import QuickConnect
internal import QuickConnectClient

/// The host's side of one process that runs procedures. It does one job at a time. Nothing here waits for the process,
/// which may not read, not answer, and not end.
final class WorkerProcess {
    /// Its current job.
    struct Task {
        let call: HandlerCall
        let name: String
        let peer: ProcedureCaller
        let began = ContinuousClock.now
    }

    /// Its answer, or how it ended.
    enum News {
        case answer(Task, Result<JSONValue, HandlerCall.Failure>)
        /// An answer that is too long to be parsed here.
        case longAnswer(Task, [UInt8])
        case ended(Task?, String)
    }

    let pid: pid_t
    let descriptor: Int32
    private(set) var task: Task?
    /// Whether it can do no more: another process may.
    private(set) var isSpent = false
    private(set) var idleSince = ContinuousClock.now
    /// What it has not read of its job.
    private var unsent: ArraySlice<UInt8> = []
    /// Whether it has closed its socket: it ends.
    private(set) var isClosed = false
    private var isReaped = false
    /// An answer has at most a few MiB; a process that sends more is out of control.
    private var splitter = LineSplitter(limit: 16 << 20)

    /// What it may open, as it was when it began.
    let ground: Ground

    /// The most pieces of 64 KiB that are read or written at once.
    private static let maxPieces = 4
    /// A longer answer is parsed by another thread.
    private static let longAnswer = 65_536

    init?(_ command: [String], _ environment: [String: String], _ ground: Ground) {
        self.ground = ground
        var variables = environment
        variables[ProcedureWorker.hostVariable] = "\(getpid())"
        guard let child = ChannelProcess.start(command, variables, channel: ProcedureWorker.channel) else {
            return nil
        }
        (pid, descriptor) = child
    }

    deinit {
        kill()
        _ = reap()
        close(descriptor)
    }

    var isIdle: Bool { task == nil }

    var residentBytes: Int { ProcessFile.residentBytes(of: "\(pid)") }

    /// What to wait for in poll(2).
    var events: pollfd {
        pollfd(fd: isClosed ? -1 : descriptor, events: Int16(unsent.isEmpty ? POLLIN : POLLIN | POLLOUT), revents: 0)
    }

    // MARK: Its job

    /// Gives it a job: a line, of which it gets as much as it reads now.
    /// - Returns: false if it is gone.
    func run(_ line: [UInt8], _ task: Task) -> Bool {
        self.task = task
        unsent = line[...]
        return write()
    }

    /// Sends what it reads now.
    /// - Returns: false if it is gone.
    @discardableResult
    func write() -> Bool {
        for _ in 0..<Self.maxPieces where !unsent.isEmpty && !isClosed {
            let count = unsent.prefix(65_536).withUnsafeBytes {
                send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT))
            }
            if count < 0, errno == EINTR || errno == EAGAIN { return true }
            guard count > 0 else {
                unsent = []
                return false
            }
            unsent = count == unsent.count ? [] : unsent.dropFirst(count)
        }
        return true
    }

    /// Reads its output.
    func read() -> News? {
        if isClosed { return end.map { .ended(task, $0) } }
        var buffer = [UInt8](repeating: 0, count: 65_536)
        var news: News?
        for _ in 0..<Self.maxPieces where news == nil {
            let count = recv(descriptor, &buffer, buffer.count, Int32(MSG_DONTWAIT))
            if count < 0, errno == EINTR { continue }
            if count < 0, errno == EAGAIN { return nil }
            guard count > 0 else {
                isClosed = true
                // It may have closed its socket without an end.
                kill()
                return end.map { .ended(task, $0) }
            }
            buffer.withUnsafeBufferPointer { bytes in
                splitter.split(UnsafeBufferPointer(rebasing: bytes[..<count])) { line in
                    switch line {
                    case .line(let line): news = news ?? take(line)
                    case .overlong: news = .ended(task, "it said more than it may")
                    }
                }
            }
        }
        return news
    }

    private func take(_ line: UnsafeBufferPointer<UInt8>) -> News? {
        guard let task else { return nil }
        self.task = nil
        idleSince = .now
        if line.count > Self.longAnswer {
            isSpent = line.starts(with: Array(ProcedureWorker.lastAnswer.utf8))
            return .longAnswer(task, Array(line))
        }
        let json = Self.parsed(line)
        isSpent = json.objectValue?["isLast"] == true
        return .answer(task, Self.result(json))
    }

    private static func parsed(_ line: UnsafeBufferPointer<UInt8>) -> JSONValue {
        (try? JSONParser.parse(line.span, maximumDepth: 1024)) ?? .null
    }

    /// What an answer says, on any thread.
    static func result(ofLine line: [UInt8]) -> Result<JSONValue, HandlerCall.Failure> {
        result(line.withUnsafeBufferPointer(parsed))
    }

    private static func result(_ json: JSONValue) -> Result<JSONValue, HandlerCall.Failure> {
        let object = json.objectValue ?? [:]
        guard var error = object["error"]?.objectValue else { return .success(object["value"] ?? .null) }
        let code = error["code"]?.stringValue.flatMap(CommandError.Code.init)
        var failure = HandlerCall.Failure(code, error["message"]?.stringValue ?? "it gave no reason")
        (error["code"], error["message"]) = (nil, nil)
        failure.details = error
        return .failure(failure)
    }

    // MARK: Its end

    /// Ends it. It is gone when ``reap()`` says so.
    func kill() { if !isReaped { Glibc.kill(pid, SIGKILL) } }

    /// Whether it has ended. Until then its process id is its own.
    func reap() -> Bool {
        guard !isReaped else { return true }
        var status: Int32 = 0
        let result = waitpid(pid, &status, WNOHANG)
        isReaped = result == pid || result < 0 && errno == ECHILD
        return isReaped
    }

    /// How a process ended that has closed its socket; nil: it has not ended yet.
    private var end: String? {
        var information = siginfo_t()
        let result = waitid(P_PID, id_t(pid), &information, WEXITED | WNOWAIT | WNOHANG)
        guard result == 0 else { return errno == EINTR ? nil : "its process is gone" }
        guard information._sifields._sigchld.si_pid == pid else { return nil }
        let status = information._sifields._sigchld.si_status
        return information.si_code == CLD_EXITED
            ? "its process ended with status \(status)" : "its process was ended by signal \(status)"
    }
}
