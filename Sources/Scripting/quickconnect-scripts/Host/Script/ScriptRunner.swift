internal import CLinux
internal import CommandLineText
internal import Concurrency
internal import Configuration
internal import Glibc
internal import JavaScriptCore
internal import Linux
internal import QuickConnect
internal import QuickConnectClient

/// Runs one script in this process: its text once, then its callbacks, until nothing is left to wait for.
///
/// The script's thread is the one that calls ``run()``. Each time the script is entered is a *turn*; between the
/// turns the loop waits for the daemon, the timers and the host.
final class ScriptRunner {
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
    var meter: LineLimit
    var rejections: [(promise: JSValue, reason: JSValue)] = []
    /// Messages that have not been passed to the script yet.
    var backlog = MessageList()
    /// The state after the last turn.
    var state: ScriptState = []
    /// Whether the script has run since the last report of the counts, and when that was.
    var isChanged = false
    var toldAt: ContinuousClock.Instant?
    /// The macros' folders, if this is their process.
    let macros: MacroFolders?
    var macroRuntime: MacroRuntime?
    private let isConfined: Bool
    /// The folders that this process may read, as they were when it began.
    private(set) var ground: Ground?
    private var isLoaded = false
    var isInTurn = false
    /// When the script was last entered.
    var turnBegan = ContinuousClock.now
    private var signals: Int32 = -1
    /// Whether the host has asked the script to end after answering its callers.
    private var isStopping = false
    /// Whether another process replaces this one, which only answers the calls it has, and ends.
    private(set) var isFinishing = false
    /// Whether the daemon no longer passes calls to it.
    var isReleased = false
    /// The latest time for its end.
    private var endsAt: ContinuousClock.Instant?
    /// The exit status, once there is one.
    var status: Int32?

    /// - Parameters:
    ///   - daemonLimits: what the daemon reads.
    ///   - paths: where the daemon's socket may be.
    ///   - channel: to the host that started this process; nil in the foreground.
    ///   - macros: where the macros lie that run here, in place of a script; nil: a script does. The host gives their texts.
    ///   - isConfined: false where the process is not the script's alone: it keeps all that it has.
    init(
        _ source: ScriptSource,
        _ limits: ScriptLimits,
        _ daemonLimits: Limits,
        paths: [String],
        channel: HostChannel? = nil,
        macros: MacroFolders? = nil,
        isConfined: Bool = true
    ) {
        self.isConfined = isConfined
        self.source = source
        self.macros = macros
        self.limits = limits
        self.daemonLimits = daemonLimits
        self.channel = channel
        let log = NamedLog(source.name, environment: OwnProcess.environment)
        console = ScriptConsole(place: channel == nil ? .foreground : .journal(log))
        let conversation = ClientConversation(bounds: Self.bounds(limits, daemonLimits))
        link = DaemonLink(conversation, paths: paths, givesUp: channel == nil)
        link.isHeld = channel != nil
        let stopper = Stopper(script: source.name, path: source.path, limits, calls, link.outbox, console, channel)
        self.stopper = stopper
        watcher = Watcher(limits, isHandlerCall: { [calls] in !calls.running.isEmpty }, onLimit: { stopper.stop($0) })
        timers = Timers(shortest: .seconds(limits.timerSeconds))
        meter = LineLimit(limits.consoleBytesPerSecond, in: .seconds(1))
    }

    private static func bounds(_ limits: ScriptLimits, _ daemonLimits: Limits) -> ClientConversation.Bounds {
        var bounds = ClientConversation.Bounds()
        // One is reserved for `makeCallSync`.
        bounds.callsUnderWay = max(1, min(limits.calls, daemonLimits.callsPerConnection - 1))
        bounds.lineBytes = daemonLimits.lineBytes
        bounds.depth = daemonLimits.depth
        return bounds
    }

    /// Runs the script to its end, and returns the exit status: 0; 1 for an error; 2 if its file cannot be read; 3 if
    /// it needs a daemon and none answers.
    func run() -> Int32 {
        link.owner = self
        // `top` and the daemon's audit log then name the script.
        qc_thread_set_name(source.name)
        if channel != nil {
            signals = qc_signal_descriptor([SIGTERM], 1)
            if signals < 0 { return ended(1, "signalfd: \(SystemCallError.text(-signals))") }
        }
        let text: String
        do throws(PlainError) {
            text = macros == nil ? try source.text() : ""
        } catch {
            return ended(2, "\(error)")
        }
        do throws(SystemCallError) {
            if isConfined { try confine() }
        } catch {
            return ended(1, "its process cannot be confined: \(error)")
        }
        do throws(JSError) {
            let runtime = try ScriptRuntime(source, self)
            self.runtime = runtime
            if macros != nil { macroRuntime = try MacroRuntime(runtime, self) }
        } catch {
            end(1, error)
            return 1
        }
        limitTime()
        // Without the thread no limit would be enforced.
        let code = watcher.start()
        if code != 0 { return ended(1, "no thread can be started: \(SystemCallError.text(code))") }
        turn { runtime throws(JSError) in try runtime.run(text, sourceURL: source.path) }
        loaded()
        while status == nil { wait() }
        flush()
        reportCounts()
        return status ?? 0
    }

    /// Gives up all but the daemon's socket and the files that it loads. Before the engine has threads.
    private func confine() throws(SystemCallError) {
        let files = macros?.readable ?? [source.loadedFolder].compactMap { $0 }
        ground = try Confinement(readable: files, connects: true).enter()
    }

    /// The engine ends loops by itself, and knows their line.
    private func limitTime() {
        let stopper = stopper
        runtime?.machine.setExecutionTimeLimit(limits.cpuSeconds) { stopper.stop(.cpuTime, backtrace: $0) }
    }

    /// The text has run, or waits for the daemon, so the host may let this process replace an older one.
    func loaded() {
        guard !isLoaded, status == nil else { return }
        isLoaded = true
        report { $0.isLoaded = true }
    }

    // MARK: The loop

    private func wait() {
        do throws(SocketPaths.NoDaemon) {
            try link.advance()
        } catch {
            return end(3, ExitError(error).message)
        }
        if isOver {
            // The service tries such a script again only when its file changes.
            status = channel == nil && state.contains(.lacksHandler) ? 1 : 0
            return
        }
        reportWhenDue()
        poll()
        // First all lines from the daemon, then each timer that is due by now, once.
        takeLines()
        let now = ContinuousClock.now
        while mayFireTimers, status == nil, let timer = timers.takeDue(at: now) {
            turn { runtime throws(JSError) in try runtime.fire(timer) }
        }
        answerLateCalls(at: now)
    }

    /// Whether nothing is left to do.
    private var isOver: Bool {
        guard !link.isHeld, !hasWork else { return false }
        if isStopping { return calls.isEmpty }
        if isFinishing { return isReleased && calls.isEmpty && !state.contains(.hasCalls) }
        return !state.contains(.isWaiting)
    }

    /// Whether the script has something to do without further input.
    private var hasWork: Bool {
        !backlog.isEmpty || state.contains(.hasMessages) || link.conversation.hasEvents
    }

    /// Timers of a script that is finishing run only while callers wait for its answers.
    private var mayFireTimers: Bool { !link.isHeld && !(isFinishing && calls.isEmpty) }

    /// Passes received messages to the script, as many as one turn may take. While it handles them, others are read, so
    /// that the callers take turns.
    private func takeLines() {
        receive()
        handleOrders()
        if state.contains(.hasMessages) { return deliver([]) }
        if !backlog.isEmpty { deliver(backlog.take()) }
    }

    private func poll() {
        var descriptors = [
            link.events, pollfd(fd: channel?.descriptor ?? -1, events: Int16(POLLIN), revents: 0),
            pollfd(fd: signals, events: Int16(POLLIN), revents: 0),
        ]
        let milliseconds = hasWork ? 0 : DaemonConnection.milliseconds(until: nextMoment)
        _ = Glibc.poll(&descriptors, nfds_t(descriptors.count), milliseconds)
        if descriptors[1].revents != 0, let channel { handle(channel) }
        if descriptors[2].revents != 0, qc_next_signal(signals) == SIGTERM {
            isStopping = true
            endsAt = .now + .seconds(1)
        }
        if let endsAt, endsAt <= .now { status = 0 }
    }

    /// Carries out the host's orders.
    func handle(_ channel: HostChannel) {
        let (orders, isClosed) = channel.receive()
        for order in orders where status == nil {
            switch order {
            case .goOn: link.isHeld = false
            case .finish: finish()
            case .change(let change): take(change)
            }
        }
        // Without its host nobody could stop it.
        if isClosed { status = 0 }
    }

    /// Another process takes over as soon as the daemon no longer passes calls to this one.
    private func finish() {
        guard let runtime, !isFinishing else { return }
        isFinishing = true
        endsAt = .now + .seconds(limits.handlerSeconds)
        link.isWanted = false
        let isConnected = link.connection != nil
        guard isInTurn else { return turn { runtime throws(JSError) in try runtime.finish(isConnected: isConnected) } }
        // Within a turn that waits, nothing is sent automatically.
        attempt { () throws(JSError) in try runtime.finish(isConnected: isConnected) }
        collect(runtime)
    }

    /// When the loop must check again without an event.
    private var nextMoment: ContinuousClock.Instant? {
        [
            mayFireTimers ? timers.next : nil, link.nextMoment, meter.tellsAt, endsAt,
            calls.oldest.map { $0 + .seconds(limits.handlerSeconds) },
            isChanged ? toldAt.map { $0 + .seconds(1) } : nil,
        ].compactMap { $0 }.min()
    }

    private func flush() {
        guard let connection = link.connection, !link.outbox.isEmpty else { return }
        link.outbox.sendLastWords(to: connection.descriptor, within: 1000)
    }
}
