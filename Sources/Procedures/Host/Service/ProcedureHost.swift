internal import CLinux
internal import Concurrency
package import Configuration
internal import Glibc
internal import JSON
internal import Linux
internal import ProcedureSets
package import QuickConnectClient

/// Runs stored procedures, each in a process of a pool, keeps the data for them, and records events into it.
///
/// It runs no JavaScript itself, so no procedure can stop it. It is a client of the daemon, with the handlers
/// `execute`, `procedures` and `data`.
package final class ProcedureHost {
    let settings: ProcedureSettings
    /// The settings that are not the same as at the start.
    let changes: () -> [String]
    let folders: ProcedureFolders
    let link: DaemonLink
    let pool: WorkerPool
    let checks: ProcedureChecks
    private let waker: Waker
    let keeper: DataKeeper
    /// A second connection to the data, which no writer delays.
    let reader: DataKeeper
    /// Reads the folders of procedures.
    let files: SideThread<HostWork>
    /// Parses and writes what is long.
    private let texts: SideThread<HostWork>
    let answers: AnswerQueue
    /// How many calls the other threads have.
    var asked = Budget<ProcedureCaller>(limit: 1024, minimum: 8)
    let fetched: FetchedProcedures
    private var manager: ServiceManager
    private var watchdog: WatchdogFeed
    let log: NamedLog
    var recorder = EventRecorder()
    /// The calls that read the data, and what each waits for.
    var reads: ArraySlice<(call: HandlerCall, hold: EventRecorder.Hold?)> = []
    /// How many long lines with events that are recorded are being parsed.
    private(set) var eventLines = 0
    private var signals: Int32 = -1
    var trimsAt = ContinuousClock.now + ProcedureHost.trimPause
    /// Why the data's file cannot be used.
    var dataProblem: StoreError?
    /// What is to be known of the data since the start.
    private(set) var notice: String?
    private let data: String
    private(set) var isEnding = false
    /// How long what the daemon sends is still recorded, once it ends.
    private(set) var readsUntil = ContinuousClock.now
    /// What the daemon has said and was not handled yet, with what another thread has made of it.
    private(set) var events: ArraySlice<(ClientConversation.Event, LineWork?)> = []
    var isOver = false

    /// Longer lines are parsed by another thread.
    private static let longLine = 65_536
    static let trimPause = Duration.seconds(60)
    private static let slice = Duration.milliseconds(1)
    private static let restTime = Duration.seconds(1)

    /// - Parameters:
    ///   - data: the path of the data's file.
    ///   - staging: the folder of the program that fetches procedures.
    ///   - changes: the keys of its settings that have changed since the start, in the order of their names.
    ///   - paths: the paths of the daemon's socket to try.
    ///   - command: the program that runs procedures, and its flags, except the one that selects this.
    package init(
        _ settings: ProcedureSettings,
        _ folders: ProcedureFolders,
        changes: @escaping () -> [String],
        data: String,
        staging: String,
        paths: [String],
        command: [String],
        environment: [String: String]
    ) throws {
        self.settings = settings
        self.folders = folders
        self.changes = changes
        self.data = data
        manager = ServiceManager(environment: environment)
        watchdog = WatchdogFeed(manager)
        log = NamedLog("procedures", environment: environment)
        // systemd's variables are for this process, not for the workers.
        let inherited = environment.filter { !["NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID"].contains($0.key) }
        let answers = AnswerQueue()
        self.answers = answers
        pool = WorkerPool(settings, command + ["--run-procedures"], inherited, answers) {
            WorkerGround.now(folders, data: data)
        }
        let waker = try Waker()
        self.waker = waker
        files = SideThread("files", mayRun: { !answers.isFull(for: $0) }) { waker.wake() }
        texts = SideThread("texts") { waker.wake() }
        checks = ProcedureChecks(program: command.first ?? "", environment: inherited)
        let store = SetStore(root: Folders.parent(of: folders.fetched) ?? "", link: "procedures")
        let taker = SetTaker(
            settings: settings,
            staging: staging,
            store: store,
            command: command,
            environment: inherited
        )
        fetched = FetchedProcedures(taker, waker)
        keeper = DataKeeper("data", answers, waker, DataWorker(data, settings, answers, isChecked: true))
        reader = DataKeeper("data-reader", answers, waker, DataWorker(data, settings, answers, isChecked: false))
        var bounds = ClientConversation.Bounds()
        bounds.putAsideBytes = Self.longLine
        link = DaemonLink(ClientConversation(bounds: bounds), paths: paths, patience: .milliseconds(10))
        link.isWanted = true
    }

    /// Runs until SIGTERM or SIGINT, and returns the exit status.
    package func run() -> Int32 {
        signals = qc_signal_descriptor([SIGTERM, SIGINT, SIGHUP], 3)
        guard signals >= 0 else {
            log.write("error", "signalfd: \(SystemCallError.text(-signals))")
            return 1
        }
        link.owner = self
        notice = DataFile.setAside(data, at: .now)
        if let notice { log.write("error", notice) }
        keeper.order(.open)
        fetched.look()
        for one in settings.record { link.conversation.subscribe(to: one.event) }
        while !isOver { turn() }
        sendRest()
        return 0
    }

    // MARK: The loop

    private func turn() {
        reportStatus()
        if answers.send(over: link) { goOn() }
        // Without a daemon, the link tries again by itself.
        _ = try? link.advance()
        var entries = [link.events]
        if !events.isEmpty { entries[0].events &= ~Int16(POLLIN) }
        entries += [signals, fetched.descriptor].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        entries += pool.events
        entries.append(checks.poll)
        let isWaiting = (events.isEmpty || eventLines > 0) && !answers.canSend(over: link)
        _ = waker.sleep(watching: &entries, until: isWaiting ? nextMoment : .now)
        watchdog.feed()
        handleEvents()
        for work in files.takeValues() + texts.takeValues() { handle(work) }
        pool.advance()
        for answer in pool.takeAnswers() { give(answer) }
        for (call, result) in checks.takeAnswers() { answer(call, result) }
        for news in keeper.takeNews() + reader.takeNews() { handle(news) }
        handleFetched()
        handleSignals()
        record()
    }

    /// Heeds what the daemon says, for as long as nobody notices, and reads on when that is done.
    private func handleEvents() {
        if events.isEmpty {
            link.receive()
            for line in link.conversation.takeLongLines() { parse(line) }
            events = link.conversation.takeEvents().map { ($0, nil) }[...]
        }
        let end = ContinuousClock.now + Self.slice
        // A procedure that is called behind an event sees it.
        while eventLines == 0, let (event, work) = events.popFirst() {
            handle(event, work)
            if .now >= end { break }
        }
    }

    /// Has another thread parse a long line, an event that is recorded before all others.
    private func parse(_ line: LongLine) {
        guard settings.record.contains(where: { line.isNamed($0.event) }) else {
            return texts.run(for: "") { .line(LineWork(line), isEvent: false) }
        }
        eventLines += 1
        texts.runFirst { .line(LineWork(line), isEvent: true) }
    }

    /// Answers wait no more: who had its share of them may have a turn.
    private func goOn() {
        for one in [keeper, reader] { one.goOn() }
        files.goOn()
    }

    /// Sends what waits to be sent, for as long as a daemon takes that reads it.
    private func sendRest() {
        let end = ContinuousClock.now + Self.restTime
        while .now < end {
            _ = answers.send(over: link)
            _ = try? link.advance()
            guard link.connection != nil, !answers.isEmpty || link.unsentCount > 0 else { return }
            _ = waker.sleep(watching: pollfd(fd: link.events.fd, events: Int16(POLLOUT), revents: 0), until: end)
        }
    }

    /// Reports the result of taking a fetched set, once.
    private func handleFetched() {
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
        let moments = [link.nextMoment, pool.nextMoment, checks.nextMoment, recorder.nextMoment, watchdog.nextMoment]
        return (moments + [reads.first?.hold?.end, isEnding ? nil : trimsAt]).compactMap { $0 }.min()
    }

    private func handle(_ work: HostWork) {
        switch work {
        case .line(let work, let isEvent):
            link.conversation.take(work.line)
            let new = link.conversation.takeEvents()
            guard isEvent else { return events += new.map { ($0, work) } }
            eventLines -= 1
            for event in new { handle(event, work) }
        case .answered(let peer): asked.add(-1, to: peer)
        case .found(let call, let source):
            asked.add(-1, to: ProcedureCaller(call))
            checks.submit(call, source)
        }
    }

    private func give(_ answer: WorkerPool.Answer) {
        switch answer {
        case .result(let call, let result): self.answer(call, result)
        case .line(let call, let line):
            let peer = ProcedureCaller(call)
            asked.add(1, to: peer)
            answers.expect(line.count, for: peer.name)
            texts.run(for: peer.name) { [answers] in
                answers.append(WorkerProcess.result(ofLine: line).map { HandlerCall.Answer($0) }, to: call)
                answers.expect(-line.count, for: peer.name)
                return .answered(peer)
            }
        }
    }

    private func handleSignals() {
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
        for answer in pool.takeAnswers() { give(answer) }
        readsUntil = .now + Self.restTime
        saveRest()
        keeper.order(.settle)
    }

    // MARK: The daemon

    /// - Parameter work: what another thread has made of it.
    private func handle(_ event: ClientConversation.Event, _ work: LineWork?) {
        switch event {
        case .called(let call): take(call, work?.job)
        case .cancelled(let number): pool.cancel(number)
        case .happened(let name, let value): hear(name, value, size: work?.size)
        case .refused(.subscription(let name), let failure):
            log.write("warning", "'\(name)' is not recorded: \(failure.message)")
        case .refused(_, let failure): log.write("warning", failure.message)
        case .fault(.told(let error)): log.write("warning", error.message)
        case .fault(.unreadable(let problem)): log.write("warning", problem)
        case .replied, .failed, .stands: break
        }
    }

    func answer(_ call: HandlerCall, _ result: Result<JSONValue, HandlerCall.Failure>) {
        answers.append(result.map { HandlerCall.Answer($0) }, to: call)
    }

    /// Reports the state to systemd, if it has changed.
    private func reportStatus() {
        guard manager.isThere, !isEnding else { return }
        let problem = problem.map { "; \($0)" } ?? ""
        let line = "\(settings.record.count) events recorded\(problem)"
        manager.report(line)
    }
}

extension ProcedureHost: DaemonLink.Owner {
    package func didConnect(again: Bool) -> [UInt8] {
        link.connection?.limitUnread(to: AnswerQueue.unreadBytes)
        link.conversation.register(handler: "execute", hearsCancel: true)
        link.conversation.register(handler: "procedures", hearsCancel: true)
        link.conversation.register(handler: "data")
        return []
    }

    package func didNotConnect(_ failure: SocketPaths.NoDaemon) {
        log.write("warning", "\(failure.line); waiting for one")
    }

    package func didLose(_ reason: String) {
        // Nobody waits for their answers any more.
        answers.clear()
        goOn()
        log.write("warning", "the connection to the daemon is lost (\(reason)); trying again")
    }
}
