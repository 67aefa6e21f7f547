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
        case answer(WorkerPool.Answer)
        case ended(Task?, String)
    }

    let child: Child
    private(set) var task: Task?
    /// Whether it can do no more: another process may.
    private(set) var isSpent = false
    private(set) var idleSince = ContinuousClock.now

    /// What it may open, as it was when it began.
    let ground: Ground

    /// A longer answer is parsed by another thread.
    private static let longAnswer = 65_536
    /// An answer has at most a few MiB; a process that sends more is out of control.
    private static let maxAnswer = 16 << 20

    init?(_ command: [String], _ environment: [String: String], _ ground: Ground) {
        self.ground = ground
        var variables = environment
        variables[ProcedureWorker.hostVariable] = "\(getpid())"
        let channel = ProcedureWorker.channel
        guard let child = Child(command, variables, channel: channel, maxLine: Self.maxAnswer) else { return nil }
        self.child = child
    }

    var isIdle: Bool { task == nil }

    // MARK: Its job

    /// Gives it a job: a line, of which it gets as much as it reads now.
    /// - Returns: false if it is gone.
    func run(_ line: [UInt8], _ task: Task) -> Bool {
        guard !child.isClosed, child.send(line) else { return false }
        self.task = task
        return true
    }

    /// Reads its output.
    func read() -> News? {
        var news: News?
        child.receive { line in
            switch line {
            case .line(let line): news = news ?? take(line)
            case .overlong: news = .ended(task, "it said more than it may")
            }
            return news == nil
        }
        if news != nil || !child.isClosed { return news }
        // It may have closed its socket without an end.
        child.kill()
        return child.reap() ? child.end.map { .ended(task, "\($0)") } : nil
    }

    private func take(_ line: UnsafeBufferPointer<UInt8>) -> News? {
        guard let task else { return nil }
        self.task = nil
        idleSince = .now
        if line.count > Self.longAnswer {
            isSpent = line.starts(with: Array(ProcedureWorker.lastAnswer.utf8))
            return .answer(.line(task.call, Array(line)))
        }
        let json = Self.parsed(line)
        isSpent = json.objectValue?["isLast"] == true
        return .answer(.result(task.call, Self.result(json)))
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
}
