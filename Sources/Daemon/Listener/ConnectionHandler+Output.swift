import Fairness
import JSON
import Logging
import NIOCore
import QuickConnect

/// Lines become bytes, as fast as the client reads.
extension ConnectionHandler {
    func write(_ line: (OutputBuffer) -> Void) {
        guard !isClosing else { return }
        if output == nil, context != nil { output = resources.takeBuffer() }
        // Nobody else takes it meanwhile, so its reference need not be counted.
        guard let buffer = output.map({ Unmanaged.passUnretained($0) }) else { return }
        let count = buffer._withUnsafeGuaranteedRef { buffer in
            line(buffer)
            return buffer.count
        }
        if count >= Self.flushMark {
            flush()
        } else if !isProcessing {
            scheduleFlush()
        }
    }

    /// Sends a call to a handler, or lets it wait for its caller's turn if there is much to read already.
    func writeCall(_ number: Int, from caller: Caller, isLong: Bool, _ line: (OutputBuffer) -> Void) {
        guard !isClosing, let context else { return }
        if !hasHandlers {
            hasHandlers = true
            let size = SocketOptionValue(Self.handlerSendBuffer)
            _ = context.channel.setOption(.socketOption(.so_sndbuf), value: size)
        }
        let unread = writtenBytes + queue.count + (output?.countWithAttachments ?? 0)
        guard isLong || calls != nil || unread > Self.callMark else { return write(line) }
        let buffer = OutputBuffer(capacity: 512)
        line(buffer)
        let calls = calls ?? OutgoingCalls(limit: limits.replyBytes)
        guard calls.append(buffer, number, of: caller.owner, resources.memory.share(of: caller)) else {
            let sentence = "its client does not read, and as much waits for it as this caller may have wait"
            connection?.refuseCall(number, CommandError(.overloaded, "the handler is not called: \(sentence)"))
            return
        }
        self.calls = calls
        scheduleFlush()
        watchForStall()
        recount()
    }

    /// Sends the line that cancels a call, behind the call.
    func writeCancel(ofCall number: Int, _ line: (OutputBuffer) -> Void) {
        guard let calls else { return write(line) }
        let buffer = OutputBuffer(capacity: 64)
        line(buffer)
        if !calls.append(buffer, behindCall: number) { write(line) }
    }

    /// Lets the next of the calls that wait go behind what the client has nearly read.
    func takeCalls(_ context: ChannelHandlerContext) {
        guard let calls else { return }
        while writtenBytes + queue.count < Self.callMark, let line = calls.next() {
            callBytes += line.countWithAttachments
            queue.append(line, context.channel.allocator)
        }
        guard calls.isEmpty else { return }
        self.calls = nil
        if !isPaused, !isClosing, !closesWhenSent { stopWatching() }
    }

    func send(_ event: Event, form: WireForm) {
        resources.deliveries &+= 1
        if isPaused, event.kind == .sensor {
            sensors.add(event, form: form)
        } else {
            write { $0.append(event, form: form) }
        }
    }

    /// Sends the lines of one turn of the event loop in one write.
    func scheduleFlush() {
        guard !flushIsScheduled, let context else { return }
        flushIsScheduled = true
        resources.busy.flushLater(self, of: connection?.owner, on: context.eventLoop)
    }

    /// Its turn to send has come.
    func flushScheduled() {
        flushIsScheduled = false
        flush()
        if isPaused || !queue.isEmpty || calls != nil { sendMore() }
    }

    func flush() {
        guard let context, let output, !output.isEmpty else { return }
        if let excess = excess(of: output) { return drop(excess) }
        queue.append(output, context.channel.allocator)
        resources.giveBack(output)
        self.output = nil
        // Done before sending, because the kernel's progress triggers more output only while the connection is paused.
        if writtenBytes + queue.count > pauseMark { pause() }
        send(to: context)
        if !queue.isEmpty { pause() }
        recount()
    }

    /// Why a client cannot get more output before it reads what there is; nil if it can.
    func excess(of output: OutputBuffer) -> String? {
        let backlog = writtenBytes + queue.count
        guard backlog <= limits.replyBytes else { return "more than \(limits.replyBytes) bytes of replies wait for it" }
        let count = output.countWithAttachments
        // Nobody loses its handlers because others have it called.
        guard max(backlog - callBytes, 0) + count > Self.resumeMark, let caller = connection?.caller else { return nil }
        // Who has read everything may get one large reply.
        let fits = resources.memory.has(count, for: caller, backlog == 0 ? .half : nil)
        return fits ? nil : "what waits for it and its user's other connections is more than the user's share"
    }

    /// With how much output it no longer reads: with any, where its peer has used its share.
    var pauseMark: Int { isTight ? 0 : Self.pauseMark }
    var resumeMark: Int { isTight ? 0 : Self.resumeMark }
    var isTight: Bool { connection.map { resources.memory.isUsedUp(by: $0.caller) } ?? false }

    /// Counts what is kept for this connection.
    func recount() {
        // Input grows by doubling, and what is left free between such blocks cannot be used for others. Of a long line there
        // are a copy, its decoded text, and the places of its parameters.
        let unread = input.readableBytes > 0 ? 2 * input.capacity + readAhead : 0
        let received = unread + 4 * longLineBytes + (batch?.memory ?? 0)
        callBytes = min(callBytes, writtenBytes + queue.count)
        let kept = received + writtenBytes + queue.count + (calls?.copied ?? 0)
        guard let change = charge.change(to: kept) else { return }
        if chargedCaller == nil { chargedCaller = connection?.caller }
        guard let caller = chargedCaller else { return }
        resources.memory.add(change, for: caller)
        if charge.counted == 0 { chargedCaller = nil }
        if change < -LoopResources.longLine, let loop { resources.trimLater(on: loop) }
    }

    /// Passes as much to the transport as it should hold.
    func send(to context: ChannelHandlerContext) {
        var hasWritten = false
        while writtenBytes <= Self.pauseMark, let piece = queue.next(context.channel.allocator) {
            write(piece, context)
            hasWritten = true
        }
        if hasWritten { context.flush() }
    }

    func write(_ piece: ByteBuffer, _ context: ChannelHandlerContext) {
        let count = piece.readableBytes
        writtenBytes += count
        context.write(wrapOutboundOut(piece)).assumeIsolated().whenSuccess {
            self.writtenBytes -= count
            self.progress += 1
            self.recount()
            guard self.isPaused || !self.queue.isEmpty || self.calls != nil else { return }
            if self.queue.isEmpty || self.resources.busy.hasTime { self.sendMore() } else { self.scheduleFlush() }
        }
    }

    /// The kernel has taken some of a paused client's output.
    func sendMore() {
        // Before more calls are sent: what the handlers have answered must be read, however many wait.
        if isPaused, !closesWhenSent, queue.isEmpty, writtenBytes <= resumeMark { resume() }
        if let context { takeCalls(context) }
        if writtenBytes <= Self.resumeMark, !queue.isEmpty, let context {
            let begin = NIODeadline.now()
            send(to: context)
            resources.busy.count(.now() - begin, on: context.eventLoop)
        }
        if closesWhenSent, queue.isEmpty { return closeWhenFlushed() }
        if isPaused, queue.isEmpty, writtenBytes <= resumeMark { resume() }
    }
}
