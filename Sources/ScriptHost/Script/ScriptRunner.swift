internal import CLinux
internal import Glibc
internal import JavaScriptCore
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
    var counts = ScriptReport()
    private var toldAt: ContinuousClock.Instant?
    private var isChanged = false
    private var isLoaded = false
    private var isInTurn = false
    /// When the script was entered last.
    private(set) var turnBegan = ContinuousClock.now
    private var signals: Int32 = -1
    /// Set where the script is to end: no more handler calls are taken, and those under way may finish.
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
        let hasLevels = getenv("JOURNAL_STREAM") != nil
        console = ScriptConsole(
            place: channel == nil ? .foreground : .journal(name: source.name, hasLevels: hasLevels)
        )
        link = DaemonLink(paths: paths, givesUp: channel == nil, isHeld: channel != nil)
        let stopper = Stopper(source, limits, calls, link.outbox, console, channel)
        self.stopper = stopper
        watcher = Watcher(limits, isHandlerCall: { [calls] in !calls.running.isEmpty }, onLimit: { stopper.stop($0) })
        timers = Timers(shortest: .seconds(limits.timerSeconds))
        meter = ConsoleMeter(bytesPerSecond: limits.consoleBytesPerSecond)
        counts.calls = 0
        counts.answers = 0
        counts.droppedLines = 0
    }

    /// Runs the script to its end, and answers the exit status: 0; 1 for an error; 2 where its file cannot be read;
    /// 3 where it needs a daemon and none answers.
    public func run() -> Int32 {
        if channel != nil { signals = qc_signal_descriptor([SIGTERM], 1) }
        link.owner = self
        let text: String
        do throws(ScriptSource.Unreadable) {
            text = try source.text()
        } catch {
            end(2, "\(error)")
            return 2
        }
        do throws(JSError) {
            runtime = try ScriptRuntime(source, limits, self)
        } catch {
            end(1, error)
            return 1
        }
        limitTime()
        watcher.start()
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
        var report = ScriptReport()
        report.isLoaded = true
        channel?.tell(report)
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
    private func attempt(_ body: () throws(JSError) -> Void) {
        guard status == nil else { return }
        do throws(JSError) {
            try body()
        } catch {
            unhandled(error)
        }
    }

    private func unhandled(_ error: JSError) {
        guard let runtime, status == nil else { return }
        note(error)
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

    private func end(_ status: Int32, _ message: String) {
        self.status = status
        console.write("error", message)
        var report = ScriptReport()
        report.error = String(message.prefix { $0 != "\n" })
        channel?.tell(report)
    }

    private func note(_ error: JSError) {
        var report = ScriptReport()
        report.error = "\(error)"
        channel?.tell(report)
    }

    // MARK: The loop

    private func wait() {
        guard let runtime else { return }
        do throws(SocketPaths.NoDaemon) {
            try link.advance()
        } catch {
            return end(3, Self.sentence(error))
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

    /// Gives lines to the script, in as many turns as it takes; what it answers at once goes out in one piece.
    private func deliver(_ lines: [[UInt8]]) {
        var text = messages(lines)
        calls.current = text
        repeat {
            turn { runtime throws(JSError) in answer(with: try runtime.deliver(text)) }
            text = []
        } while status == nil && runtime?.hasMessages == true
        calls.current = nil
        if status != nil, let answers = runtime?.takeAnswers() { answer(with: answers) }
    }

    /// The lines as one JSON array. A line that is no object is the daemon's refusal of the connection.
    private func messages(_ lines: [[UInt8]]) -> [UInt8] {
        var text = [UInt8(ascii: "[")]
        text.reserveCapacity(lines.reduce(2) { $0 + $1.count + 1 })
        for line in lines {
            guard line.first == UInt8(ascii: "{") else {
                write("error", "the daemon: \(String(decoding: line, as: UTF8.self))")
                continue
            }
            if text.count > 1 { text.append(UInt8(ascii: ",")) }
            text += line
        }
        text.append(UInt8(ascii: "]"))
        return text
    }

    private func answer(with lines: [UInt8]) {
        guard !lines.isEmpty else { return }
        let count = lines.count { $0 == UInt8(ascii: "\n") }
        if lines.count <= daemonLimits.depth {
            _ = link.send(Array(lines.dropLast()))
        } else {
            for line in lines.split(separator: UInt8(ascii: "\n")) { _ = link.send(readable(Array(line))) }
        }
        counts.answers = (counts.answers ?? 0) + count
        changed()
    }

    /// An answer, or in its place an error where the daemon would not read it.
    func readable(_ line: [UInt8]) -> [UInt8] {
        do throws(TooLarge) {
            try OutgoingLine.check(line, daemonLimits)
            return line
        } catch {
            // The id stands first, and the runtime writes it.
            let id = line.dropFirst("{\"responseId\":\"".utf8.count).prefix { $0 != UInt8(ascii: "\"") }
            let answer: JSONValue = [
                "responseId": .string(String(decoding: id, as: UTF8.self)),
                "error": ["code": "tooLarge", "message": .string("the answer of \(source.name): \(error)")],
            ]
            return Array(answer.text.utf8)
        }
    }

    private func poll() {
        var descriptors = [
            link.events, pollfd(fd: channel?.descriptor ?? -1, events: Int16(POLLIN), revents: 0),
            pollfd(fd: signals, events: Int16(POLLIN), revents: 0),
        ]
        _ = Glibc.poll(&descriptors, nfds_t(descriptors.count), Self.milliseconds(until: nextMoment))
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

    static func milliseconds(until instant: ContinuousClock.Instant?) -> Int32 {
        guard let instant else { return -1 }
        return Int32(min(max(((instant - .now) / .milliseconds(1)).rounded(.up), 0), 1e9))
    }

    /// Answers for handlers that let their callers wait too long without running: their answer may still come, but
    /// nobody waits for it.
    func answerLateCalls(at now: ContinuousClock.Instant) {
        guard let oldest = calls.oldest, now - oldest > .seconds(limits.handlerSeconds) else { return }
        for call in calls.take(before: now - .seconds(limits.handlerSeconds)) {
            let sentence =
                "the handler \(call.handler) of \(source.name) gave no answer within "
                + "\(Limit.words(limits.handlerSeconds)) s (handlerTime)"
            let error: JSONValue = ["code": "timeout", "message": .string(sentence), "file": .string(source.path)]
            _ = link.send(JSONValue.object(["responseId": .string(call.id), "error": error]).text)
            note(call.handler, sentence, "")
        }
    }

    private func flush() {
        guard let connection = link.connection, !link.outbox.isEmpty else { return }
        link.outbox.flush(toDescriptor: connection.descriptor, within: 1000)
    }

    // MARK: Telling

    func changed() { isChanged = true }

    /// Tells the host what has been counted, at most once a second.
    private func tellWhenDue() {
        if let dropped = meter.takeUntold() {
            let bytes = limits.consoleBytesPerSecond >> 10
            console.write("warning", "\(dropped) lines were dropped: more than \(bytes) KiB in a second (consoleBytes)")
            counts.droppedLines = meter.dropped
            isChanged = true
        }
        guard isChanged, toldAt.map({ .now - $0 >= .seconds(1) }) ?? true else { return }
        tellCounts()
    }

    private func tellCounts() {
        guard isChanged else { return }
        isChanged = false
        toldAt = .now
        channel?.tell(counts)
    }

    static func sentence(_ failure: SocketPaths.NoDaemon) -> String {
        let attempts = failure.attempts.map { "\n  \($0.path): \($0.failure)" }.joined()
        return "no daemon answers:\(attempts)"
    }
}

extension ScriptRunner: DaemonLink.Owner {
    func didConnect(again: Bool) -> [String] {
        stopper.connectionIs(link.connection?.descriptor ?? -1)
        if again { console.write("info", "connected to the daemon again") }
        let lines = again ? runtime?.registrations ?? [] : []
        runtime?.sent()
        return lines
    }

    func didNotConnect(_ failure: SocketPaths.NoDaemon) {
        console.write("warning", "\(Self.sentence(failure))\nwaiting for one")
    }

    func didLose(_ reason: String) {
        stopper.connectionIs(-1)
        _ = calls.take()
        console.write("warning", "the connection to the daemon is lost (\(reason)); trying again")
        guard let runtime else { return }
        link.isWanted = runtime.isRegistered
        guard isInTurn else { return turn { runtime throws(JSError) in try runtime.lost() } }
        attempt { () throws(JSError) in try runtime.lost() }
    }
}
