internal import CLinux
package import Configuration
package import Glibc
internal import JSON
internal import JavaScriptCore
internal import Linux
internal import QuickConnect
internal import Synchronization

/// The process that runs procedures, one after the other. It reads jobs from its host, one per line, and writes their
/// results. It has access to the data, but not to the daemon or a network. Its host ends it if it uses too much time or
/// memory.
package final class ProcedureWorker {
    /// The socket's number in the process.
    static let channel: Int32 = 3
    /// The environment variable that tells the process which host has started it.
    package static let hostVariable = "QUICKCONNECT_PROCEDURE_HOST"

    private let settings: ProcedureSettings
    private let folders: ProcedureFolders
    private let data: String
    private let store: StoreKeeper
    private let machine: JSVirtualMachine
    private let console: ProcedureConsole
    /// Where a host is told; not in a test.
    private var watch: SQLWatch?
    /// How often a call is run that conflicts with another write; the last attempt waits for other writers before it
    /// begins.
    private static let attempts = 4

    /// Runs jobs until the host is gone, and answers the exit status.
    /// - Parameter data: the path of the data's file.
    package static func run(
        _ settings: ProcedureSettings,
        _ folders: ProcedureFolders,
        data: String,
        environment: [String: String],
        host: pid_t
    ) -> Int32 {
        qc_end_with_parent(host)
        // Whoever else computes on this device goes first.
        setpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0, 19)
        let store = StoreKeeper()
        let folders = folders.settled()
        do throws(SystemCallError) {
            // Before the engine has threads.
            try WorkerGround.enter(folders, data: data, store)
        } catch {
            Descriptor.write("quickconnect-scripts: the process cannot be confined: \(error)\n", to: STDERR_FILENO)
            return 1
        }
        return ProcedureWorker(settings, folders, data: data, environment: environment, store: store)?.run() ?? 1
    }

    /// - Parameter data: the path of the data's file.
    init?(
        _ settings: ProcedureSettings,
        _ folders: ProcedureFolders,
        data: String,
        environment: [String: String],
        store: StoreKeeper = StoreKeeper()
    ) {
        guard let machine = JSVirtualMachine() else { return nil }
        self.store = store
        self.machine = machine
        self.settings = settings
        self.folders = folders
        self.data = data
        console = ProcedureConsole(environment: environment)
    }

    private func run() -> Int32 {
        watch = SQLWatch(channel: Self.channel)
        var splitter = LineSplitter(limit: 64 << 20)
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = recv(Self.channel, &buffer, buffer.count, 0)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return 0 }
            buffer.withUnsafeBufferPointer { bytes in
                splitter.split(UnsafeBufferPointer(rebasing: bytes[..<count])) { line in
                    guard case .line(let line) = line else { return }
                    // A caller's values are a few levels deeper in a job.
                    let job = try? JSONParser.parse(line.span, maximumDepth: 2 * JSONParser.defaultDepth)
                    send(answer(job ?? .null))
                }
            }
            machine.collectGarbage()
        }
    }

    /// The beginning of an answer after which there are no more.
    static let lastAnswer = #"{"isLast":true,"#

    private func send(_ line: String) {
        Descriptor.write("\(line)\n", to: Self.channel)
    }

    private func answer(_ json: JSONValue) -> String {
        // Where it cannot open the data, the next process may.
        let start = store.problem == nil ? "{" : Self.lastAnswer
        do throws(ProcedureError) {
            guard let job = json.objectValue, let name = job["name"]?.stringValue else {
                throw ProcedureError(.internal, "the host has asked for what no worker can do")
            }
            return #"\#(start)"value":\#(try execute(name, (job["arguments"] ?? []).text, now: nil))}"#
        } catch {
            console.write(error)
            return "\(start)\"error\":\(JSONValue.object(error.json).text)}"
        }
    }

    // MARK: The jobs

    /// Runs a procedure in its own transaction, again if that conflicts with another write.
    /// - Parameter now: milliseconds since 1970, for a test.
    func execute(_ name: String, _ arguments: String, now: Double?) throws(ProcedureError) -> String {
        console.begin(name)
        var attempt = 1
        while true {
            let session = ProcedureSession(
                store,
                data,
                procedure: name,
                sqlLimits: sqlLimits,
                writesAtOnce: attempt >= Self.attempts,
                watch: watch
            )
            let result = Result { () throws(ProcedureError) in try run(name, arguments, session, now) }
            if session.hasConflict, attempt < Self.attempts {
                attempt += 1
                continue
            }
            return try result.get()
        }
    }

    private var sqlLimits: SQLLimits {
        var limits = SQLLimits()
        limits.time = .seconds(settings.sqlSeconds)
        limits.rows = settings.sqlRows
        return limits
    }

    private func run(
        _ name: String,
        _ arguments: String,
        _ session: ProcedureSession,
        _ now: Double?
    ) throws(ProcedureError) -> String {
        let stopped = Stop()
        machine.setExecutionTimeLimit(settings.seconds) { stopped.note($0) }
        defer {
            machine.clearExecutionTimeLimit()
            session.rollBack()
        }
        let run = ProcedureRun(machine, folders.settled(), now: now) { [console] in console.write($0, $1) }
        let result = ProcedureContext.with(session) {
            Result { () throws(ProcedureError) in try run.run(name, arguments) }
        }
        // A termination within a promise throws nothing.
        if let backtrace = stopped.backtrace { throw ProcedureError.late(name, settings.seconds, backtrace) }
        let answer = try result.get()
        guard answer.utf8.count <= Self.answerBytes else {
            throw ProcedureError(.tooLarge, "the answer of \(name) has more than \(Self.answerBytes >> 20) MiB")
        }
        try session.commit()
        return answer
    }

    /// A line of the daemon has at most 4 MiB.
    static let answerBytes = 3 << 20
}

/// Whether a procedure's time was exceeded, and its call stack.
private final class Stop: Sendable {
    private let state = Mutex<[String]?>(nil)

    func note(_ backtrace: [String]) -> Bool {
        state.withLock { $0 = backtrace }
        return true
    }

    var backtrace: [String]? { state.withLock { $0 } }
}
