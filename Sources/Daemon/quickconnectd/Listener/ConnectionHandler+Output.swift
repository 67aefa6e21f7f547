import Concurrency
import JSON
import QuickConnect
import Runtime

/// Lines become bytes, as fast as the client reads.
extension ConnectionHandler {
    func write(_ line: (OutputBuffer) -> Void) {
        guard isWritable else { return }
        if output == nil { output = resources.takeBuffer() }
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
        guard isWritable else { return }
        if !hasHandlers {
            hasHandlers = true
            channel?.limitOutput(to: Self.handlerSendBuffer)
        }
        // What the kernel takes at once waits for nobody's turn.
        if !isLong, calls == nil, (output?.countWithAttachments ?? 0) > Self.callMark { flush() }
        let unread = queue.count + (output?.countWithAttachments ?? 0)
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
    private func takeCalls() {
        guard let calls else { return }
        while queue.count < Self.callMark, let line = calls.next() {
            callBytes += line.countWithAttachments
            queue.append(line)
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

    /// Sends the lines of one turn of the loop in one write.
    private func scheduleFlush() {
        guard !flushIsScheduled, isWritable else { return }
        flushIsScheduled = true
        resources.busy.flushLater(self, of: connection?.owner)
    }

    /// Its turn to send has come.
    func flushScheduled() {
        flushIsScheduled = false
        flush()
        if isPaused || closesWhenSent || !queue.isEmpty || calls != nil { sendMore() }
    }

    func flush() {
        guard isWritable, let output, !output.isEmpty else { return }
        if let excess = excess(of: output) { return drop(excess) }
        // What the kernel takes at once is not copied.
        let sent = queue.isEmpty ? sendFirst(of: output) : 0
        queue.append(output, skipping: sent)
        resources.giveBack(output)
        self.output = nil
        if !queue.isEmpty {
            sendQueue()
            if queue.count > pauseMark { pause() }
        }
        recount()
    }

    /// Sends what is before the first large text.
    private func sendFirst(of output: OutputBuffer) -> Int {
        output.withBytes { bytes in
            let end = output.attachments.first?.position ?? bytes.count
            return end == 0 ? 0 : write(UnsafeRawBufferPointer(UnsafeBufferPointer(rebasing: bytes[..<end])))
        }
    }

    /// - Returns: how much the kernel has taken.
    private func write(_ bytes: UnsafeRawBufferPointer) -> Int {
        guard let count = channel?.write(bytes) else {
            // Its client is gone. Not now: this may be another connection's turn.
            _ = loop.after(.zero) { self.peerIsGone() }
            return bytes.count
        }
        if count > 0 { progress += 1 }
        return count
    }

    /// Why a client cannot get more output before it reads what there is; nil if it can.
    private func excess(of output: OutputBuffer) -> String? {
        let backlog = queue.count
        guard backlog <= limits.replyBytes else { return "more than \(limits.replyBytes) bytes of replies wait for it" }
        let count = output.countWithAttachments
        // Nobody loses its handlers because others have it called.
        guard max(backlog - callBytes, 0) + count > Self.resumeMark, let caller = connection?.caller else { return nil }
        // Who has read everything may get one large reply.
        let fits = resources.memory.has(count, for: caller, backlog == 0 ? .half : nil)
        return fits ? nil : "what waits for it and its user's other connections is more than the user's share"
    }

    /// With how much output it no longer reads: with any, where its peer has used its share.
    private var pauseMark: Int { isTight ? 0 : Self.pauseMark }
    private var resumeMark: Int { isTight ? 0 : Self.resumeMark }
    private var isTight: Bool { connection.map { resources.memory.isUsedUp(by: $0.caller) } ?? false }

    /// Counts what is kept for this connection.
    func recount() {
        // Input grows by doubling, and what is left free between such blocks cannot be used for others. Of a long line there
        // are a copy, its decoded text, and the places of its parameters.
        let unread = input.isEmpty ? 0 : 2 * input.capacity
        let received = unread + 4 * longLineBytes + (batch?.memory ?? 0)
        callBytes = min(callBytes, queue.count)
        guard let change = charge.change(to: received + queue.count + (calls?.copied ?? 0)) else { return }
        if chargedCaller == nil { chargedCaller = connection?.caller }
        guard let caller = chargedCaller else { return }
        resources.memory.add(change, for: caller)
        if charge.counted == 0 { chargedCaller = nil }
        if change < -LoopResources.longLine { resources.trimLater() }
    }

    /// Sends what waits, until the kernel has no room or the time of a turn is up.
    private func sendQueue() {
        guard let channel, !channel.isFull else { return }
        let end = LoopTime.now() + BusyConnections.turn
        while queue.sendNext({ write($0) }) {
            guard resources.busy.hasTime, .now() < end else { return scheduleFlush() }
        }
    }

    /// Sends what waits, and the calls behind it, as long as the kernel has room.
    private func sendWithCalls() {
        let begin = LoopTime.now()
        var now = begin
        repeat {
            sendQueue()
            takeCalls()
            now = .now()
        } while !queue.isEmpty && channel?.isFull == false && resources.busy.hasTime
            && now < begin + BusyConnections.shortTurn
        resources.busy.count(now - begin)
        recount()
        if channel?.isFull == false, !queue.isEmpty { scheduleFlush() }
    }

    /// The kernel has taken some of a client's output.
    func sendMore() {
        guard isWritable else { return }
        // Before more calls are sent: what the handlers have answered must be read, however many wait.
        if isPaused, !closesWhenSent, queue.count <= resumeMark { resume() }
        takeCalls()
        if !queue.isEmpty { sendWithCalls() }
        if closesWhenSent, queue.isEmpty { return close() }
        if isPaused, !closesWhenSent, queue.count <= resumeMark { resume() }
    }
}
