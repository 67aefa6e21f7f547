internal import CLinux
internal import Concurrency
internal import Configuration
internal import Glibc
internal import JSON
internal import Linux
import QuickConnect
internal import QuickConnectClient
internal import SyntaxChecking

/// Runs the scripts of a folder, a process each: starts them, watches them, restarts them.
///
/// It runs no JavaScript itself, so no script can stop it. It is a client of the daemon, and its handler `scriptHost`
/// answers the command `scripts`.
final class ScriptHost {
    /// The handler that reports the state of the scripts.
    static let handler = "scriptHost"

    private let folder: ScriptFolder
    private let limits: ScriptLimits
    private let link: DaemonLink
    private let command: [String]
    private let service: MacroService?
    private var macros: SupervisedScript?
    private let environment: [String: String]
    private let console: ScriptConsole
    private let waker: Waker
    private var manager: ServiceManager
    private var watchdog: WatchdogFeed
    private var scripts: [SupervisedScript] = []
    private var signals: Int32 = -1
    private var isThere = false
    private var isEnding = false
    /// When to check the folder after a change: editors change a file several times in a row.
    private var looksAt: ContinuousClock.Instant?
    /// When its start is over, and its start-up code can be unloaded.
    private var settlesAt: ContinuousClock.Instant?

    /// The calls that wait, by their callers.
    private var calls = Ring<String, HandlerCall>(newcomersFirst: true)
    private var counts = Budget<String>(limit: .max)
    private let answers = AnswerQueue()

    /// The calls of one caller that may wait.
    private static let maxWaiting = 256
    private static let slice = Duration.milliseconds(1)
    private static let settleTime = Duration.milliseconds(50)
    private static let absenceTime = Duration.seconds(5)
    private static let startTime = Duration.seconds(3)

    /// - Parameters:
    ///   - folder: the folder whose `*.js` files are run.
    ///   - paths: the paths of the daemon's socket to try.
    ///   - command: the program that runs one script, and its flags; the script's path is added.
    ///   - macros: the folders of the macros, and the program that runs them, with its flags; nil: no macros.
    init(
        folder: String,
        limits: ScriptLimits,
        paths: [String],
        command: [String],
        macros: (folders: MacroFolders, command: [String])? = nil,
        environment: [String: String]
    ) throws(Interruption) {
        waker = try Waker()
        self.folder = ScriptFolder(path: folder)
        self.limits = limits
        self.command = command
        manager = ServiceManager(environment: environment)
        watchdog = WatchdogFeed(manager)
        // systemd's variables are for this process, not for the scripts.
        self.environment = environment.filter { !["NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID"].contains($0.key) }
        let console = ScriptConsole(place: .journal(NamedLog("scripts", environment: environment)))
        self.console = console
        let checker = SyntaxChecker(program: command.first ?? "", environment: self.environment)
        service = macros.map { [waker, answers] in
            MacroService($0.folders, checker, answers, waker, log: { console.write($0, $1) })
        }
        link = DaemonLink(paths: paths)
        link.isWanted = true
        self.macros = macros.map { supervise($0.command) }
    }

    /// Runs until SIGTERM or SIGINT, and returns the exit status. SIGHUP checks the folder again.
    func run() -> Int32 {
        signals = qc_signal_descriptor([SIGCHLD, SIGTERM, SIGINT, SIGHUP], 4)
        guard signals >= 0 else {
            console.write("error", "signalfd: \(SystemCallError.text(-signals))")
            return 1
        }
        link.owner = self
        settlesAt = .now + Self.startTime
        macros?.start()
        look()
        if !isThere { console.write("warning", "the folder \(folder.path) does not exist yet; waiting for it") }
        while !(isEnding && all.isEmpty) {
            reportStatus()
            wait()
        }
        return 0
    }

    /// The scripts of the folder, and the macros' process.
    private var all: [SupervisedScript] { scripts + [macros].compactMap { $0 } }

    // MARK: The loop

    private func wait() {
        if answers.send(over: link) { service?.goOn() }
        // Without a daemon, the link tries again by itself.
        _ = try? link.advance()
        let processes = all.flatMap(\.processes)
        let folders = [folder.descriptor] + (service?.descriptors ?? [])
        var entries = folders.map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        entries += [link.events, pollfd(fd: signals, events: Int16(POLLIN), revents: 0)]
        entries += processes.map(\.child.poll) + [service?.poll].compactMap { $0 }
        _ = waker.sleep(watching: &entries, until: canAnswer || answers.canSend(over: link) ? .now : nextMoment)
        watchdog.feed()
        link.receive()
        for event in link.conversation.takeEvents() { handle(event) }
        answerCalls()
        if entries[..<folders.count].contains(where: { $0.revents != 0 }) {
            folder.drain()
            service?.drain()
            looksAt = min(looksAt ?? .now + Self.settleTime, .now + Self.settleTime)
        }
        for process in processes { process.child.flush() }
        for script in all where script.read() { looksAt = .now }
        service?.advance(macros?.newest)
        handleSignals()
        let now = ContinuousClock.now
        if let looksAt, looksAt <= now { look() }
        if let settlesAt, settlesAt <= now {
            self.settlesAt = nil
            qc_release_code()
        }
        for script in all { script.tick(now) }
        scripts.removeAll(where: \.isGone)
        if macros?.isGone ?? false { macros = nil }
    }

    /// Reports the scripts' state to systemd, if it has changed.
    private func reportStatus() {
        guard manager.isThere, !isEnding else { return }
        manager.report(statusLine)
    }

    /// Such as `3 scripts running; macros running; failed: bell.js`.
    private var statusLine: String {
        let running = scripts.count { $0.state.name == "running" }
        var parts = ["\(running) script\(running == 1 ? "" : "s") running"]
        if let macros, macros.state.name == "running" { parts.append("\(macros.name) running") }
        let others = Dictionary(grouping: all.filter { $0.state.name != "running" }, by: \.state.name)
        parts += others.sorted { $0.key < $1.key }.map { state, scripts in
            "\(state): \(scripts.map(\.name).joined(separator: ", "))"
        }
        return parts.joined(separator: "; ")
    }

    private var nextMoment: ContinuousClock.Instant? {
        ([link.nextMoment, looksAt, settlesAt, service?.nextMoment, watchdog.nextMoment] + all.map(\.nextMoment))
            .compactMap { $0 }.min()
    }

    private func handleSignals() {
        while true {
            switch qc_next_signal(signals) {
            case SIGTERM, SIGINT:
                isEnding = true
                looksAt = nil
                manager.stopping("ending the scripts")
                for script in all { script.stop() }
            case SIGHUP: looksAt = .now
            // Not any child: others wait for their own.
            case SIGCHLD: for script in all { script.reap() }
            default: return
            }
        }
    }

    // MARK: The folder

    private func look() {
        guard !isEnding else { return }
        isThere = folder.watch(alsoFoldersOf: scripts.reduce(into: []) { $0.formUnion($1.loadedFiles) })
        // A missing folder cannot be watched.
        let isWatching = lookAtMacros()
        looksAt = isThere && isWatching ? nil : .now + Self.absenceTime
        let names = folder.scripts()
        for script in scripts where !names.contains(script.name) { script.remove() }
        for name in names where !scripts.contains(where: { $0.name == name }) {
            let seconds = limits.handlerSeconds
            scripts.append(SupervisedScript(name, handlerSeconds: seconds, make: start, log: console.write))
        }
        scripts.sort { $0.name < $1.name }
        for script in scripts { script.look(folder) }
    }

    private func start(_ name: String) -> ScriptProcess? {
        ScriptProcess(command + ["\(folder.path)/\(name)"], environment: environment)
    }

    // MARK: The macros

    private func supervise(_ command: [String]) -> SupervisedScript {
        let pauses = SupervisedScript.Pauses(shortest: .milliseconds(100), longest: .seconds(1))
        let script = SupervisedScript(
            "macros",
            handlerSeconds: limits.handlerSeconds,
            service: pauses,
            make: { [environment] _ in ScriptProcess(command, environment: environment) },
            log: console.write
        )
        script.onFailure = { [weak self] report, reason in self?.postMacroError(report, reason) }
        script.onRelease = { [weak self] process in self?.service?.release(process) }
        return script
    }

    /// Returns whether all folders are watched, so that polling is not needed.
    private func lookAtMacros() -> Bool {
        service?.look() ?? true
    }

    /// Reports that the macros' process was ended, and that their globals are lost.
    private func postMacroError(_ report: ScriptReport, _ reason: String) {
        var event: JSONObject = [
            "title": "Javascript Evaluation Error", "macro": .null,
            "message": .string("\(reason); the macros restart: globals are lost, values are kept"),
            "globalsLost": true,
        ]
        event.merge(report.place ?? [:])
        if let file = event["file"]?.stringValue, let line = event["line"]?.integerValue {
            event["source"] = service?.source(file, line: Int(line)).map(JSONValue.string)
        }
        link.conversation.call("post", .value(["macroError", .object(event)]))
    }

    // MARK: The daemon

    private func handle(_ event: ClientConversation.Event) {
        switch event {
        case .called(let call): take(call)
        case .refused(_, let failure): warn(failure.message)
        case .fault(.told(let error)): warn(error.message)
        case .fault(.unreadable(let problem)): warn(problem)
        case .replied, .failed, .happened, .cancelled, .stands: break
        }
    }

    private func take(_ call: HandlerCall) {
        guard counts.used(by: call.callerName) < Self.maxWaiting else {
            let sentence = "\(Self.maxWaiting) of this caller's calls wait for the script host already"
            return answers.append(.failure(HandlerCall.Failure(.overloaded, sentence)), to: call)
        }
        counts.add(1, to: call.callerName)
        calls.append(call, of: call.callerName)
    }

    /// Whether a caller may have a turn: who has its share of answers that are not sent yet gets it later.
    private var canAnswer: Bool { calls.contains { !answers.isFull(for: $0) } }

    /// Answers calls by their callers' turns, for as long as nobody notices.
    private func answerCalls() {
        let end = ContinuousClock.now + Self.slice
        while let call = calls.next(where: { !answers.isFull(for: $0) }) {
            counts.add(-1, to: call.callerName)
            if call.handler == MacroService.handler, let service {
                service.take(call)
            } else {
                answers.append(.success(HandlerCall.Answer(json)), to: call)
            }
            if .now >= end { break }
        }
    }

    private func warn(_ reason: String) { console.write("warning", "«quickconnect scripts» will not work: \(reason)") }

    private var json: JSONValue {
        [
            "folder": .string(folder.path), "limits": limits.json, "scripts": .array(all.map(\.json)),
            "largest": .array(
                answers.largest.map { ["caller": .string($0.caller), "bytes": .integer(Int64($0.bytes))] }
            ),
        ]
    }
}

extension ScriptHost: DaemonLink.Owner {
    func didConnect(again: Bool) -> [UInt8] {
        link.connection?.limitUnread(to: AnswerQueue.unreadBytes)
        // Also if an earlier daemon has refused it.
        link.conversation.register(handler: Self.handler)
        if service != nil { link.conversation.register(handler: MacroService.handler) }
        return []
    }

    func didNotConnect(_ failure: SocketPaths.NoDaemon) {
        console.write("warning", "\(failure.line); waiting for one")
    }

    func didLose(_ reason: String) {
        // Nobody waits for their answers any more.
        (calls, counts) = (Ring(newcomersFirst: true), Budget(limit: .max))
        answers.clear()
        service?.goOn()
        console.write("warning", "the connection to the daemon is lost (\(reason)); trying again")
    }
}
