internal import Glibc
internal import JSON
internal import Linux
internal import QuickConnect
internal import QuickConnectClient

/// The host's side of one process that runs procedures. It does one job at a time.
final class WorkerProcess {
    /// Its current job.
    struct Task {
        let call: HandlerCall
        let name: String
        let began = ContinuousClock.now
    }

    /// Its answer, or how it ended.
    enum News {
        case answer(Task, Result<JSONValue, HandlerCall.Failure>)
        case ended(Task?, String)
    }

    let pid: pid_t
    let descriptor: Int32
    private(set) var task: Task?
    /// Whether it can do no more: another process may.
    private(set) var isSpent = false
    private(set) var idleSince = ContinuousClock.now
    /// An answer has at most a few MiB; a process that sends more is out of control.
    private var splitter = LineSplitter(limit: 16 << 20)

    /// What it may open, as it was when it began.
    let ground: Ground

    init?(_ command: [String], _ environment: [String: String], _ ground: Ground) {
        self.ground = ground
        var variables = environment
        variables[ProcedureWorker.hostVariable] = "\(getpid())"
        guard let child = ChannelProcess.start(command, variables, channel: ProcedureWorker.channel) else {
            return nil
        }
        (pid, descriptor) = child
    }

    /// Kills it if it has not ended, and reaps it.
    deinit {
        kill(pid, SIGKILL)
        var status: Int32 = 0
        while waitpid(pid, &status, 0) < 0, errno == EINTR {}
        close(descriptor)
    }

    var isIdle: Bool { task == nil }

    var residentBytes: Int { ProcessFile.residentBytes(of: "\(pid)") }

    /// Gives it a job. It is waiting for one, so it reads at once.
    /// - Returns: false if it is gone.
    func run(_ job: ProcedureJob, _ task: Task) -> Bool {
        self.task = task
        var rest = Array("\(job.json.text)\n".utf8)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return false }
            rest = rest.dropFirst(count)
        }
        return true
    }

    /// Reads its output.
    func read() -> News? {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        var news: News?
        while news == nil {
            let count = recv(descriptor, &buffer, buffer.count, Int32(MSG_DONTWAIT))
            if count < 0, errno == EINTR { continue }
            if count < 0, errno == EAGAIN { return nil }
            guard count > 0 else { return .ended(task, end) }
            buffer.withUnsafeBufferPointer { bytes in
                splitter.split(UnsafeBufferPointer(rebasing: bytes[..<count])) { line in
                    switch line {
                    case .line(let line): news = answer((try? JSONParser.parse(line.span, maximumDepth: 1024)) ?? .null)
                    case .overlong: news = .ended(task, "it said more than it may")
                    }
                }
            }
        }
        return news
    }

    private func answer(_ json: JSONValue) -> News? {
        guard let task else { return nil }
        self.task = nil
        idleSince = .now
        let object = json.objectValue ?? [:]
        isSpent = object["isLast"] == true
        guard var error = object["error"]?.objectValue else {
            return .answer(task, .success(object["value"] ?? .null))
        }
        let code = error["code"]?.stringValue.flatMap(CommandError.Code.init)
        var failure = HandlerCall.Failure(code, error["message"]?.stringValue ?? "it gave no reason")
        (error["code"], error["message"]) = (nil, nil)
        failure.details = error
        return .answer(task, .failure(failure))
    }

    /// How a process ended that has closed its socket.
    private var end: String {
        var information = siginfo_t()
        // Its process id stays reserved until this object is released.
        while waitid(P_PID, id_t(pid), &information, WEXITED | WNOWAIT) < 0, errno == EINTR {}
        let status = information._sifields._sigchld.si_status
        return information.si_code == CLD_EXITED
            ? "its process ended with status \(status)" : "its process was ended by signal \(status)"
    }
}
