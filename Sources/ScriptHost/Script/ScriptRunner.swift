internal import CLinux
public import Configuration
internal import Glibc
internal import JavaScriptCore
internal import Linux
public import QuickConnect
internal import QuickConnectClient

/// Runs one script in this process: its text once, then what comes, until nothing is left to wait for.
///
/// The script's thread is the one that calls ``run()``. Each time the script is entered is a *turn*; between the
/// turns the loop waits for the daemon, the timers and the host.
public final class ScriptRunner {
    let source: ScriptSource
    let limits: ScriptLimits
    let daemonLimits: Limits
    let link: DaemonLink
    let calls = HandlerCalls()
    let console: ScriptConsole
    let channel: HostChannel?
    let stopper: Stopper
    let watcher: Watcher
    var runtime: ScriptRuntime?
    var timers: Timers
    var meter: ConsoleMeter
    var rejections: [(promise: JSValue, reason: JSValue)] = []
    /// Lines that came while the script waited for a reply.
    var backlog: [[UInt8]] = []
    /// Calls made, and calls to handlers answered.
    var callCount = 0 { didSet { isChanged = true } }
    var answerCount = 0 { didSet { isChanged = true } }
    /// Whether the host has not been told of the counts yet, and when it was told last.
    private var isChanged = false
    private var toldAt: ContinuousClock.Instant?
    private var isLoaded = false
    private(set) var isInTurn = false
    /// When the script was entered last.
    private(set) var turnBegan = ContinuousClock.now
    private var signals: Int32 = -1
    /// Set where the host has asked the script to end: when its callers have their answers, at the latest then.
    var endsAt: ContinuousClock.Instant?
    /// The exit status, once there is one.
    private(set) var status: Int32?

    /// - Parameters:
    ///   - daemonLimits: what the daemon reads.
    ///   - paths: where the daemon's socket may be.
    ///   - channel: to the host that started this process; nil in the foreground.
    public init(
        _ source: ScriptSource,
        _ limits: ScriptLimits,
        _ daemonLimits: Limits,
        paths: [String],
        channel: HostChannel? = nil
    ) {
        self.source = source
        self.limits = limits
        self.daemonLimits = daemonLimits
        self.channel = channel
        let hasLevels = OwnProcess.logsToJournal(OwnProcess.environment)
        console = ScriptConsole(
            place: channel == nil ? .foreground : .journal(name: source.name, hasLevels: hasLevels)
        )
        link = DaemonLink(paths: paths, givesUp: channel == nil, isHeld: channel != nil)
        let stopper = Stopper(source, limits, calls, link.outbox, console, channel)
        self.stopper = stopper
        watcher = Watcher(limits, isHandlerCall: { [calls] in !calls.running.isEmpty }, onLimit: { stopper.stop($0) })
        timers = Timers(shortest: .seconds(limits.timerSeconds))
        meter = ConsoleMeter(bytesPerSecond: limits.consoleBytesPerSecond)
    }

    /// Runs the script to its end, and answers the exit status: 0; 1 for an error; 2 where its file cannot be read;
    /// 3 where it needs a daemon and none answers.
    public func run() -> Int32 {
        link.owner = self
        // `top` and the daemon's audit log then name the script.
        qc_thread_set_name(source.name)
        if channel != nil {
            signals = qc_signal_descriptor([SIGTERM], 1)
            if signals < 0 { return ended(1, "signalfd: \(String(cString: strerror(-signals)))") }
        }
        let text: String
        do throws(ScriptSource.Unreadable) {
            text = try source.text()
        } catch {
            return ended(2, "\(error)")
        }
        do throws(JSError) {
            runtime = try ScriptRuntime(source, limits, self)
        } catch {
            end(1, error)
            return 1
        }
        limitTime()
        // Without the thread no limit would hold.
        let code = watcher.start()
        if code != 0 { return ended(1, "no thread can be started: \(String(cString: strerror(code)))") }
        turn { runtime throws(JSError) in try runtime.context.evaluate(text, sourceURL: source.path) }
        loaded()
        while status == nil { wait() }
        flush()
        tellCounts()
        return status ?? 0
    }

    /// The engine ends loops by itself, and knows their line.
    private func limitTime() {
        let stopper = stopper
        runtime?.machine.setExecutionTimeLimit(limits.cpuSeconds) { stopper.stop(.cpuTime, backtrace: $0) }
    }

    /// The text has run, or waits for the daemon: the host may let it take the place of an older one.
    func loaded() {
        guard !isLoaded, status == nil else { return }
        isLoaded = true
        tell { $0.isLoaded = true }
    }

    // MARK: Turns

    /// Lets the script run, and deals with what it leaves unhandled.
    func turn(_ body: (ScriptRuntime) throws(JSError) -> Void) {
        guard let runtime, status == nil else { return }
        watcher.begin()
        turnBegan = .now
        isInTurn = true
        defer {
            isInTurn = false
            watcher.end()
        }
        attempt { () throws(JSError) in try body(runtime) }
        attempt { () throws(JSError) in try runtime.turnEnded() }
        while !rejections.isEmpty, status == nil {
            let (promise, reason) = rejections.removeFirst()
            if !runtime.mayIgnore(promise, reason) { unhandled(JSError(reason)) }
        }
    }

    /// Runs something of the script's, and deals with the error that nobody in there has.
    func attempt(_ body: () throws(JSError) -> Void) {
        guard status == nil else { return }
        do throws(JSError) {
            try body()
        } catch {
            unhandled(error)
        }
    }

    private func unhandled(_ error: JSError) {
        guard let runtime, status == nil else { return }
        tell { $0.error = "\(error)" }
        do throws(JSError) {
            if let thrown = error.value, try runtime.handles(thrown) { return }
            end(1, error)
        } catch let second {
            end(1, error)
            write("error", "and in handling that: \(second)")
        }
    }

    private func end(_ status: Int32, _ error: JSError) {
        let stack = runtime?.stack(of: error.value) ?? []
        let place = error.place == nil ? "\(source.path): " : ""
        end(status, "\(place)\(error)\(stack.map { "\n    at \(Self.frame($0))" }.joined())")
    }

    /// The engine's `name@place`, for people.
    private static func frame(_ line: String) -> String {
        guard let at = line.lastIndex(of: "@") else { return line }
        return at == line.startIndex ? String(line.dropFirst()) : "\(line[..<at]) (\(line[line.index(after: at)...]))"
    }

    private func ended(_ status: Int32, _ message: String) -> Int32 {
        end(status, message)
        return status
    }

    private func end(_ status: Int32, _ message: String) {
        self.status = status
        console.write("error", message)
        tell { $0.error = String(message.prefix { $0 != "\n" }) }
    }

    // MARK: The loop

    private func wait() {
        guard let runtime else { return }
        do throws(SocketPaths.NoDaemon) {
            try link.advance()
        } catch {
            return end(3, "\(error)")
        }
        if !link.isHeld, backlog.isEmpty, endsAt != nil && calls.isEmpty || !runtime.isWaiting {
            status = 0
            return
        }
        tellWhenDue()
        if backlog.isEmpty { poll() }
        // All lines of the daemon that are there, then each timer that is due by now, each once.
        let lines = backlog + link.receive()
        backlog = []
        if !lines.isEmpty { deliver(lines) }
        let now = ContinuousClock.now
        while !link.isHeld, status == nil, let timer = timers.takeDue(at: now) {
            turn { runtime throws(JSError) in try runtime.fire(timer) }
        }
        answerLateCalls(at: now)
    }

    private func poll() {
        var descriptors = [
            link.events, pollfd(fd: channel?.descriptor ?? -1, events: Int16(POLLIN), revents: 0),
            pollfd(fd: signals, events: Int16(POLLIN), revents: 0),
        ]
        _ = Glibc.poll(&descriptors, nfds_t(descriptors.count), DaemonConnection.milliseconds(until: nextMoment))
        if descriptors[1].revents != 0, let channel { heed(channel) }
        if descriptors[2].revents != 0, qc_next_signal(signals) == SIGTERM { endsAt = .now + .seconds(1) }
        if let endsAt, endsAt <= .now { status = 0 }
    }

    func heed(_ channel: HostChannel) {
        switch channel.mayGoOn() {
        case true?: link.isHeld = false
        // Without its host nobody could stop it.
        case false?: status = 0
        case nil: break
        }
    }

    /// When the loop must look again without an event.
    private var nextMoment: ContinuousClock.Instant? {
        [
            link.isHeld ? nil : timers.next, link.nextTry, meter.tellsAt, endsAt,
            calls.oldest.map { $0 + .seconds(limits.handlerSeconds) },
            isChanged ? toldAt.map { $0 + .seconds(1) } : nil,
        ].compactMap { $0 }.min()
    }

    private func flush() {
        guard let connection = link.connection, !link.outbox.isEmpty else { return }
        link.outbox.flush(toDescriptor: connection.descriptor, within: 1000)
    }

    // MARK: Telling

    /// Tells the host, where one has started this process.
    func tell(_ fill: (inout ScriptReport) -> Void) {
        var report = ScriptReport()
        fill(&report)
        channel?.tell(report)
    }

    /// Tells the host what has been counted, at most once a second.
    private func tellWhenDue() {
        if let dropped = meter.takeUntold() {
            let bytes = limits.consoleBytesPerSecond >> 10
            console.write("warning", "\(dropped) lines were dropped: more than \(bytes) KiB in a second (consoleBytes)")
            isChanged = true
        }
        guard isChanged, toldAt.map({ .now - $0 >= .seconds(1) }) ?? true else { return }
        tellCounts()
    }

    private func tellCounts() {
        guard isChanged else { return }
        isChanged = false
        toldAt = .now
        tell {
            $0.calls = callCount
            $0.answers = answerCount
            $0.droppedLines = meter.dropped
        }
    }
}
