import Fairness
import JSON
import Logging
import NIOCore
import QuickConnect

/// How a connection ends: its client has all, does not read, or does not end its lines.
extension ConnectionHandler {
    /// Closes when the daemon stops. A client that has just connected gets a moment for its call, because it could not
    /// know.
    func finish(within time: TimeAmount) {
        guard let context, !hasReceived else { return closeWhenFlushed(within: time) }
        context.eventLoop.assumeIsolated().scheduleTask(in: Self.welcomeTime) { () -> Void in
            self.closeWhenFlushed(within: time)
        }
    }

    /// Closes when everything sent has reached the kernel, or when the client does not read it.
    func closeWhenFlushed(within time: TimeAmount? = nil) {
        guard let context, !isClosing else { return }
        flush()
        calls = nil
        // While a large text is being sent, the connection is paused, and continues as its client reads.
        closesWhenSent = !queue.isEmpty
        guard !closesWhenSent else { return closeAfter(time, context) }
        isClosing = true
        context.writeAndFlush(wrapOutboundOut(ByteBuffer())).assumeIsolated().whenComplete { _ in
            self.context?.close(promise: nil)
        }
        closeAfter(time, context)
    }

    /// Closes when the time is up, or if the client reads nothing.
    func closeAfter(_ time: TimeAmount?, _ context: ChannelHandlerContext) {
        if let time, closeTimer == nil {
            closeTimer = context.eventLoop.assumeIsolated().scheduleTask(in: time) { () -> Void in
                self.context?.close(promise: nil)
            }
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
        guard let context, stallTimer == nil else { return }
        let seen = progress
        let time = TimeAmount.milliseconds(Int64(limits.stalledSeconds * 1000))
        stallTimer = context.eventLoop.assumeIsolated().scheduleTask(in: time) {
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
    var hasUnfinishedLine: Bool { input.readableBytes > 0 && !isBusy }

    /// Whether a line has ended since there were so many, and has been processed.
    func hasFinishedLine(since count: Int) -> Bool { lineCount != count && !isReadingLine && batch == nil }

    /// Closes because the line does not end and its peer has used its share.
    func refuseUnfinishedLine() {
        guard let caller = connection?.caller else { return }
        refuse(resources.memory.refusal(of: "the line did not end", for: caller))
    }

    /// Whether nobody would miss it: nothing waits in either direction.
    var isIdle: Bool {
        input.readableBytes == 0 && !isBusy && writtenBytes == 0 && queue.isEmpty && connection?.isIdle ?? false
    }

    /// Tells its client why, and closes.
    func refuse(_ error: CommandError) {
        write { $0.appendError(error, command: nil, id: nil, form: .url) }
        input = ByteBuffer()
        recount()
        closeWhenFlushed(within: Self.refusalTime)
    }

    func drop(_ reason: String) {
        guard let context else { return }
        isClosing = true
        logger.warning("dropped a client: \(reason)", metadata: connection.map { ["caller": "\($0.caller)"] })
        context.close(promise: nil)
    }
}
