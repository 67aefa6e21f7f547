import Concurrency
import JSON
import Logging
import QuickConnect
import Runtime

/// How a connection ends: its client has all, does not read, or does not end its lines.
extension ConnectionHandler {
    /// Closes when the daemon stops. A client that has just connected gets a moment for its call, because it could not
    /// know.
    func finish(within time: LoopSpan) {
        guard isWritable, !hasReceived else { return closeWhenFlushed(within: time) }
        _ = loop.after(Self.welcomeTime) { self.closeWhenFlushed(within: time) }
    }

    /// Closes when everything sent has reached the kernel, or when the client does not read it.
    func closeWhenFlushed(within time: LoopSpan? = nil) {
        guard isWritable else { return isGone ? shut() : () }
        flush()
        calls = nil
        // While a large text is being sent, the connection is paused, and continues as its client reads.
        closesWhenSent = !queue.isEmpty
        if closesWhenSent { closeAfter(time) } else { close() }
    }

    /// Closes when the time is up, or if the client reads nothing.
    private func closeAfter(_ time: LoopSpan?) {
        if let time, closeTimer == nil {
            closeTimer = loop.after(time) { self.close() }
        } else {
            watchForStall()
        }
    }

    // MARK: Clients that do not read

    func pause() {
        guard !isPaused else { return }
        isPaused = true
        watchForStall()
    }

    func resume() {
        isPaused = false
        if calls == nil { stopWatching() }
        if !sensors.isEmpty, let connection {
            for event in sensors.take(droppedForm: connection.droppedForm) { send(event.event, form: event.form) }
        }
        // Not at once: the kernel may have taken bytes while a line of this or another connection is being received.
        waitForTurn(isBusy: true)
    }

    func stopWatching() {
        stallTimer?.cancel()
        stallTimer = nil
    }

    func watchForStall() {
        guard isWritable, stallTimer == nil else { return }
        let seen = progress
        stallTimer = loop.after(.nanoseconds(Int64(min(limits.stalledSeconds, 1e9) * 1e9))) {
            self.stallTimer = nil
            if self.progress == seen {
                self.drop("it has read nothing for \(self.limits.stalledSeconds) s")
            } else {
                self.watchForStall()
            }
        }
    }

    // MARK: Lines that do not end

    /// Whether nothing worth counting is kept for it.
    var holdsNothing: Bool { charge.counted == 0 }

    /// Whether the beginning of a line is here, and no more of it.
    var hasUnfinishedLine: Bool { !input.isEmpty && !isBusy }

    /// Whether a line has ended since there were so many, and has been processed.
    func hasFinishedLine(since count: Int) -> Bool { lineCount != count && !isReadingLine && batch == nil }

    /// Closes because the line does not end and its peer has used its share.
    func refuseUnfinishedLine() {
        guard let caller = connection?.caller else { return }
        refuse(resources.memory.refusal(of: "the line did not end", for: caller))
    }

    /// Whether nobody would miss it: nothing waits in either direction.
    var isIdle: Bool {
        input.isEmpty && !isBusy && channel?.isReadable == false && queue.isEmpty && connection?.isIdle ?? false
    }

    /// Tells its client why, and closes.
    func refuse(_ error: CommandError) {
        write { $0.appendError(error, command: nil, id: nil, form: .url) }
        input.removeAll()
        recount()
        channel?.skipInput()
        closeWhenFlushed(within: Self.refusalTime)
    }

    func drop(_ reason: String) {
        logger.warning("dropped a client: \(reason)", metadata: connection.map { ["caller": "\($0.caller)"] })
        close()
    }
}

/// What the end of a connection leaves to do, a step after the other.
final class ConnectionEnd {
    let peer: Owner
    /// The next one last.
    private var steps: Connection.Steps

    init(_ steps: Connection.Steps, of peer: Owner) {
        self.steps = steps.reversed()
        self.peer = peer
    }

    func add(_ more: Connection.Steps) { steps.insert(contentsOf: more.reversed(), at: 0) }

    /// - Returns: whether all is done.
    func work(until end: LoopTime) -> Bool {
        while let step = steps.popLast() {
            step()
            if .now() >= end { break }
        }
        return steps.isEmpty
    }
}
