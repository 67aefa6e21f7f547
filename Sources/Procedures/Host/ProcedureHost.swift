internal import CLinux
public import Configuration
internal import DataStore
internal import Glibc
internal import JSON
internal import Layout
public import Linux
internal import ProcedureSets
internal import QuickConnect
public import QuickConnectClient

/// Runs stored procedures, each in a process of a pool, keeps the data for them, and records events into it.
///
/// It runs no JavaScript itself, so no procedure can stop it. It is a client of the daemon, with the handlers
/// `execute`, `procedures` and `data`.
public final class ProcedureHost {
    private let settings: ProcedureSettings
    private let folders: ProcedureFolders
    private let link: DaemonLink
    private let pool: WorkerPool
    private let waker: Waker
    private let keeper: DataKeeper
    private let fetched: FetchedProcedures
    private let manager: ServiceManager
    private let log: HostLog
    private var recorder = Recorder()
    private var signals: Int32 = -1
    private var trimsAt = ContinuousClock.now + ProcedureHost.trimPause
    private var status: String?
    /// Why the data's file cannot be used.
    private var dataProblem: StoreError?
    private var isEnding = false
    private var isOver = false

    private static let trimPause = Duration.seconds(60)

    /// - Parameters:
    ///   - data: the path of the data's file.
    ///   - staging: the folder of the program that fetches procedures.
    ///   - paths: the paths of the daemon's socket to try.
    ///   - command: the program that runs procedures, and its flags, except the one that selects this.
    public init(
        _ settings: ProcedureSettings,
        _ folders: ProcedureFolders,
        data: String,
        staging: String,
        paths: [String],
        command: [String],
        environment: [String: String]
    ) throws(SystemCallError) {
        self.settings = settings
        self.folders = folders
        manager = ServiceManager(environment: environment)
        log = HostLog(hasLevels: OwnProcess.logsToJournal(environment))
        // systemd's variables are for this process, not for the workers.
        let inherited = environment.filter { !["NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID"].contains($0.key) }
        pool = WorkerPool(settings, command + ["--run-procedures"], inherited) {
            WorkerGround.now(folders, data: data)
        }
        waker = try Waker()
        let store = SetStore(root: Folders.parent(of: folders.fetched) ?? "", link: "procedures")
        let taker = SetTaker(
            settings: settings,
            staging: staging,
            store: store,
            command: command,
            environment: inherited
        )
        fetched = FetchedProcedures(taker, waker)
        keeper = try DataKeeper(data, settings, waker)
        link = DaemonLink(paths: paths)
        link.isWanted = true
    }

    /// Runs until SIGTERM or SIGINT, and returns the exit status.
    public func run() -> Int32 {
        signals = qc_signal_descriptor([SIGTERM, SIGINT, SIGHUP], 3)
        guard signals >= 0 else {
            log.write("error", "signalfd: \(SystemCallError.text(-signals))")
            return 1
        }
        link.owner = self
        keeper.order(.open)
        fetched.look()
        for one in settings.record { link.conversation.subscribe(to: one.event) }
        while !isOver { turn() }
        _ = try? link.advance()
        return 0
    }

    // MARK: The loop

    private func turn() {
        tellStatus()
        // Without a daemon, the link tries again by itself.
        _ = try? link.advance()
        var entries = [link.events]
        entries += [signals, fetched.descriptor].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        entries += pool.descriptors.map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        _ = waker.sleep(watching: &entries, until: nextMoment)
        link.receive()
        for event in link.conversation.takeEvents() { heed(event) }
        pool.advance()
        for (call, result) in pool.takeAnswers() { answer(call, result) }
        for news in keeper.takeNews() { heed(news) }
        heedFetched()
        heedSignals()
        record()
    }

    /// Reports the result of taking a fetched set, once.
    private func heedFetched() {
        let before = fetched.state
        guard let asking = fetched.advance() else { return }
        let now = fetched.state
        if let reason = now.refused?.reason, reason != before.refused?.reason {
            log.write("error", "the fetched procedures are refused, and those before stay: \(reason)")
        } else if now.installed?.identity != before.installed?.identity, let installed = now.installed {
            log.write("info", "\(installed.files.count) fetched procedures and shared files are in place")
        }
        if let problem = now.problem, problem != before.problem { log.write("error", problem) }
        for call in asking { answer(call, .success(fetched.json)) }
    }

    private var nextMoment: ContinuousClock.Instant? {
        [link.nextMoment, pool.nextMoment, recorder.nextMoment, isEnding ? nil : trimsAt].compactMap { $0 }.min()
    }

    private func heedSignals() {
        while true {
            switch qc_next_signal(signals) {
            case SIGTERM, SIGINT: end()
            case SIGHUP: continue
            default: return
            }
        }
    }

    /// Answers waiting callers, writes the collected events, and ends.
    private func end() {
        guard !isEnding else { return }
        isEnding = true
        manager.stopping("writing what was recorded")
        pool.end()
        for (call, result) in pool.takeAnswers() { answer(call, result) }
        while let batch = recorder.takeBatch(at: .now, evenFew: true) {
            keeper.order(.save(batch))
            _ = recorder.didSave(0)
        }
        keeper.order(.end)
    }

    // MARK: The recorder

    private func record() {
        guard !isEnding else { return }
        if let batch = recorder.takeBatch(at: .now) { keeper.order(.save(batch)) }
        guard trimsAt <= .now else { return }
        trimsAt = .now + Self.trimPause
        keeper.order(.trim)
        if fetched.isWanted { fetched.look() }
    }

    private func heed(_ news: DataKeeper.News) {
        switch news {
        case .opened: dataProblem = nil
        case .failed(let error): note(error)
        case .saved(let count):
            dataProblem = nil
            tell(recorder.didSave(count))
        case .notSaved(let entries, let error): tell(recorder.didNotSave(entries, error, at: .now))
        case .answer(let call, let result): answer(call, result)
        case .ended: isOver = true
        }
    }

    private func note(_ error: StoreError) {
        if dataProblem?.description != error.description { log.write("error", "\(error)") }
        dataProblem = error
    }

    /// Reports once that recording has stopped, and once that it continues.
    private func tell(_ change: Recorder.Change?) {
        switch change {
        case nil: return
        case .stopped(let error):
            log.write("error", "nothing is recorded: \(error)")
            post(["recording": false, "reason": .string("\(error)")])
        case .goesOn(let lost):
            log.write("info", "recording goes on\(lost == 0 ? "" : "; \(lost) events were lost meanwhile")")
            post(["recording": true, "lost": .integer(Int64(lost))])
        }
    }

    private func post(_ state: JSONValue) {
        link.conversation.call("post", .value(["dataState", state]))
    }

    // MARK: The daemon

    private func heed(_ event: ClientConversation.Event) {
        switch event {
        case .called(let call): take(call)
        case .cancelled(let number): pool.cancel(number)
        case .happened(let name, let value): hear(name, value)
        case .refused(.subscription(let name), let failure):
            log.write("warning", "'\(name)' is not recorded: \(failure.message)")
        case .refused(_, let failure): log.write("warning", failure.message)
        case .fault(.told(let error)): log.write("warning", error.message)
        case .fault(.unreadable(let problem)): log.write("warning", problem)
        case .replied, .failed, .stands: break
        }
    }

    private func hear(_ name: String, _ value: JSONValue) {
        guard settings.record.contains(where: { $0.event == name }),
            let date = EntryDate(milliseconds: Clock.milliseconds)
        else { return }
        let size = value.text.utf8.count
        guard size <= Entry.maximumDataBytes else {
            return log.write(
                "warning",
                "an event '\(name)' of \(size >> 10) KiB is not recorded: too large for an entry"
            )
        }
        recorder.take(Entry(date: date, kind: name, data: value, source: "event"), size: size, at: .now)
    }

    private func take(_ call: HandlerCall) {
        let values = call.data.arrayValue ?? [call.data]
        switch call.handler {
        case "data": keeper.order(.answer(call))
        case "execute":
            guard let name = values.first?.stringValue else {
                return refuse(call, .invalid, "the name of a procedure is missing", "/0")
            }
            pool.submit(call, name, .execute(name: name, arguments: Array(values.dropFirst())))
        default: takeProcedures(call, values)
        }
    }

    private func takeProcedures(_ call: HandlerCall, _ values: [JSONValue]) {
        let name = values.count > 1 ? values[1].stringValue : nil
        switch (values.first?.stringValue ?? "list", name) {
        case ("list", _): answer(call, .success(list()))
        case ("sync", _): fetched.look(for: call)
        case ("show", let name?): show(call, name)
        case ("check", let name?):
            pool.submit(call, name, .check(name: name, text: values.count > 2 ? values[2].stringValue : nil))
        default:
            answer(call, .failure(Self.unknown(values)))
        }
    }

    /// The error for an unknown verb, or one without the name that it needs.
    private static func unknown(_ values: [JSONValue]) -> HandlerCall.Failure {
        if let verb = values.first?.stringValue, ["show", "check"].contains(verb) {
            let value = values.count > 1 ? values[1] : nil
            return .expected("name, the procedure to \(verb)", at: "/1", got: value)
        }
        return .expected("verb, one of list, show, check, sync", at: "/0", got: values.first)
    }

    private func list() -> JSONValue {
        let (files, problems) = folders.files()
        let load = pool.load
        var recording: JSONObject = [
            "events": .array(settings.record.map { .string($0.event) }), "saved": .integer(Int64(recorder.saved)),
            "waiting": .integer(Int64(recorder.pending.count)),
        ]
        recording["problem"] = (recorder.problem ?? dataProblem).map { .string("\($0)") }
        return [
            "procedures": .array(files.map { .object($0.json) }), "problems": .array(problems.map(JSONValue.string)),
            "running": .integer(Int64(load.running)), "waiting": .integer(Int64(load.waiting)),
            "recording": .object(recording), "sync": fetched.isWanted ? fetched.json : .null,
        ]
    }

    private func show(_ call: HandlerCall, _ name: String) {
        guard let file = folders.file(name) else {
            let question = NearestNames.question(name, among: folders.files().files.map(\.name))
            return refuse(call, .notFound, "there is no procedure '\(name.prefix(100))'\(question)", "/1")
        }
        switch file.text() {
        case .failure(let problem): refuse(call, .unavailable, "\(file.path) \(problem.message)")
        case .success(let text):
            var members = file.json
            members["text"] = .string(text)
            answer(call, .success(.object(members)))
        }
    }

    private func refuse(_ call: HandlerCall, _ code: CommandError.Code, _ message: String, _ field: String? = nil) {
        answer(call, .failure(HandlerCall.Failure(code, message, field: field)))
    }

    private func answer(_ call: HandlerCall, _ result: Result<JSONValue, HandlerCall.Failure>) {
        link.conversation.answer(call, with: result.map { HandlerCall.Answer($0) })
    }

    /// Reports the state to systemd, if it has changed.
    private func tellStatus() {
        guard manager.isThere, !isEnding else { return }
        let problem = (recorder.problem ?? dataProblem).map { "; \($0)" } ?? ""
        let line = "\(settings.record.count) events recorded\(problem)"
        guard line != status else { return }
        if status == nil { manager.ready(line) } else { manager.status(line) }
        status = line
    }
}

extension ProcedureHost: DaemonLink.Owner {
    public func didConnect(again: Bool) -> [UInt8] {
        link.conversation.register(handler: "execute", hearsCancel: true)
        link.conversation.register(handler: "procedures", hearsCancel: true)
        link.conversation.register(handler: "data")
        return []
    }

    public func didNotConnect(_ failure: SocketPaths.NoDaemon) {
        log.write("warning", "\(failure)\nwaiting for one")
    }

    public func didLose(_ reason: String) {
        log.write("warning", "the connection to the daemon is lost (\(reason)); trying again")
    }
}

/// The host's log.
struct HostLog {
    let hasLevels: Bool

    func write(_ level: String, _ text: String) {
        let number = ["error": 3, "warning": 4][level] ?? 6
        let prefix = hasLevels ? "<\(number)>" : ""
        let lines = text.split(separator: "\n").map { "\(prefix)procedures: \(String($0).escapingControls)\n" }
        Descriptor.write(lines.joined(), to: STDERR_FILENO)
    }
}
