import Fairness
import JSON
import Logging
import NIOCore
import QuickConnect

/// One client's connection on its event loop: bytes to lines for its conversation, lines to bytes.
///
/// Input is processed in turns of a millisecond (``BusyConnections``), so that no client delays the others, however much
/// it sends. What a client has not read yet is its backlog. Above ``pauseMark`` the connection stops reading input, which
/// bounds the replies of a client that does not read; events and late replies may add up to the limit. What is kept for
/// a connection counts for its user (``PeerMemory``).
final class ConnectionHandler: ChannelDuplexHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private static let welcomeTime = TimeAmount.milliseconds(250)
    /// How long a client that is closed has to read why.
    private static let refusalTime = TimeAmount.milliseconds(500)
    /// How long a connection that has used up a turn counts as busy.
    private static let busyTime = TimeAmount.milliseconds(100)
    /// How many events may be delivered in one turn.
    private static let maxDeliveries = 256
    private static let muchInput = 32 << 10
    /// What one read can add to what is kept: the largest buffer (``UnixSocketListener/receiveSizes``), counted twice.
    private static let maxReadAhead = 128 << 10
    private static let pauseMark = 256 << 10
    private static let resumeMark = 64 << 10
    private static let flushMark = 64 << 10
    /// The next calls to handlers are sent when less than this waits, and what the kernel keeps of them: what has been sent
    /// is no longer in turns.
    private static let callMark = 4 << 10
    private static let handlerSendBuffer = 32 << 10

    private(set) var connection: Connection?
    /// Makes the connection; nil once there is one.
    private var makeConnection: ((SocketOutput) -> Connection)?
    private let limits: Limits
    private let logger: Logger
    private let resources: LoopResources
    /// Nil once the client is gone.
    private var context: ChannelHandlerContext?
    /// Nil once the connection has ended, which is later than that if input is left to process.
    private var loop: (any EventLoop)?

    // Input
    private var framer: LineFramer
    private var input = ByteBuffer()
    private var batch: Batch?
    /// Whether another thread is reading a long line; the lines after it wait.
    private var isReadingLine = false
    private var isProcessing = false
    /// Whether it waits for its turn.
    private var isScheduled = false
    /// When it last used up a turn.
    private var usedTurn = NIODeadline.uptimeNanoseconds(0)
    /// When it last sent something; for choosing the idle connection that is closed for a newcomer.
    private(set) var lastReceived = NIODeadline.now()
    /// A line that another thread is reading, in bytes.
    private var longLineBytes = 0
    /// What is counted for its caller.
    private var charge = Charge(step: 4 << 10)
    private var chargedCaller: Caller?
    private var readIsPending = false
    /// Whether it is told when it may read.
    private var waitsToRead = false
    private var inputHasEnded = false
    /// Whether the client is gone, and input is left to process.
    private var isGone = false
    /// What is left to do after an end.
    private var ending: ConnectionEnd?
    private var hasReceived = false
    /// How much came last.
    private var receivedBytes = 0
    private var sendsMuch: Bool { receivedBytes >= Self.muchInput }
    /// What the read that it waits for may add to an unfinished line.
    private var readAhead = 0
    /// How many turns have ended lines.
    private(set) var lineCount = 0

    // Output
    private var output: OutputBuffer?
    private var queue = OutgoingQueue()
    /// Whether a handler of its client has been called.
    private var hasHandlers = false
    /// Calls to its handlers that wait; nil if none does.
    private var calls: OutgoingCalls?
    /// How much of what is not sent yet are calls that have waited: their callers are charged for them.
    private var callBytes = 0
    /// Bytes written but not yet taken by the kernel.
    private var writtenBytes = 0
    private var flushIsScheduled = false
    private var isPaused = false
    private var sensors = SensorBacklog()
    private var isClosing = false
    /// Whether it closes once the queue is empty.
    private var closesWhenSent = false
    /// Counts the pieces that the kernel took, to detect whether a paused client reads at all.
    private var progress = 0
    private var stallTimer: Scheduled<Void>?
    private var closeTimer: Scheduled<Void>?

    init(
        limits: Limits,
        logger: Logger,
        resources: LoopResources,
        makeConnection: @escaping (SocketOutput) -> Connection
    ) {
        self.limits = limits
        self.logger = logger
        self.resources = resources
        self.makeConnection = makeConnection
        framer = LineFramer(limit: limits.lineBytes)
    }

    // MARK: Life

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        loop = context.eventLoop
        connection = makeConnection?(SocketOutput(self, context.channel, thread: resources.thread))
        makeConnection = nil
    }

    func channelInactive(context: ChannelHandlerContext) {
        stallTimer?.cancel()
        closeTimer?.cancel()
        (queue, calls) = (OutgoingQueue(), nil)
        writtenBytes = 0
        if let output { resources.giveBack(output) }
        output = nil
        isPaused = false
        self.context = nil
        let mayHaveMore = input.readableBytes > 0 || isBusy || isProcessing
        if mayHaveMore, !isClosing, let connection, resources.keepsInput(of: connection) {
            // What it sent before it went counts: answers of its handlers, posts.
            isGone = true
            connection.leave()
            processInput()
        } else {
            end()
        }
        context.fireChannelInactive()
    }

    /// Ends the connection of a client that is gone once all that it sent has been processed.
    private func endIfGone() {
        guard isGone, let connection, !isBusy, !isProcessing else { return }
        resources.endInput(of: connection)
        end()
    }

    private func end() {
        guard let connection, let loop else { return }
        (input, batch, longLineBytes) = (ByteBuffer(), nil, 0)
        recount()
        if resources.memory.takeFreed() { resources.trimLater(on: loop) }
        self.connection = nil
        self.loop = nil
        finish(connection.closeInSteps(), of: connection.owner, on: loop)
    }

    /// Does what an end leaves to do, in turns: each step may be an event for many.
    private func finish(_ steps: Connection.Steps, of peer: Owner, on loop: any EventLoop) {
        guard !steps.isEmpty else { return }
        if let ending {
            ending.add(steps)
        } else {
            ending = ConnectionEnd(steps, of: peer, on: loop)
        }
        workOnEnding(until: .now() + BusyConnections.shortTurn)
    }

    private func workOnEnding(until end: NIODeadline) {
        guard let ending else { return }
        if ending.work(until: end) {
            self.ending = nil
        } else if !isScheduled {
            isScheduled = true
            resources.busy.append(self, of: ending.peer, isBusy: true, on: ending.loop)
        }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case .some(ChannelEvent.inputClosed) = event as? ChannelEvent {
            inputHasEnded = true
            if input.readableBytes > Self.muchInput, let caller = connection?.caller,
                resources.memory.isUsedUp(by: caller)
            {
                return refuse(resources.memory.refusal(of: "what came last is not kept", for: caller))
            }
            processInput()
        } else {
            context.fireUserInboundEventTriggered(event)
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        logger.debug("connection closed: \(error)")
        context.close(promise: nil)
    }

    // MARK: Input

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        hasReceived = true
        lastReceived = .now()
        var buffer = unwrapInboundIn(data)
        (receivedBytes, readAhead) = (buffer.readableBytes, 0)
        if input.readableBytes == 0 {
            input = buffer
        } else {
            input.writeBuffer(&buffer)
        }
        processInput()
        // At the end of input all that the kernel has comes, asked for or not.
        if isBusy { recount() }
    }

    /// Whether there is more input to process.
    private var isBusy: Bool { isReadingLine || isScheduled || batch != nil }

    func read(context: ChannelHandlerContext) {
        if isPaused || isBusy || !mayRead {
            readIsPending = true
        } else {
            readMore(context)
        }
    }

    /// Counts what may come before it comes: hundreds of connections may read between two looks at the memory.
    private func readMore(_ context: ChannelHandlerContext) {
        if charge.counted > 0, input.readableBytes > 0 {
            // Each buffer is at most twice as large as the one before.
            readAhead = min(4 * receivedBytes, Self.maxReadAhead)
            recount()
        }
        context.read()
    }

    /// Whether its peer may send more: who has nothing here may begin, whatever the others of its peer have.
    private var mayRead: Bool {
        guard !waitsToRead else { return false }
        guard charge.counted > 0 || sendsMuch, let caller = connection?.caller, let loop else {
            return true
        }
        let mayRead =
            (charge.counted == 0 || resources.unread.mayRead(self, for: caller, on: loop))
            && (!sendsMuch || resources.busy.mayRead(self, of: connection?.owner ?? caller.owner, on: loop))
        waitsToRead = !mayRead
        return mayRead
    }

    private func readIfPending() {
        guard readIsPending, !isPaused, !isBusy, mayRead else { return }
        readAgain()
    }

    /// It may read what it waited for.
    func readAgain() {
        waitsToRead = false
        guard readIsPending, !isPaused, !isBusy else { return }
        readIsPending = false
        if let context { readMore(context) }
    }

    /// Processes what has come, now or when others have had their turn.
    private func processInput() {
        guard !isProcessing, !isScheduled, !isReadingLine, connection != nil, let loop else { return }
        let begin = NIODeadline.now()
        // When a write fails because a client is gone, NIO reads the rest of its input, possibly during another
        // connection's turn.
        guard !resources.isInUse, let time = resources.busy.time(isBusy: begin < usedTurn + Self.busyTime) else {
            return waitForTurn(isBusy: begin < usedTurn + Self.busyTime)
        }
        let end = work(until: begin + time)
        resources.busy.count(end - begin, on: loop)
        endIfGone()
    }

    private func waitForTurn(isBusy: Bool) {
        guard !isScheduled, let connection, let loop else { return }
        isScheduled = true
        resources.busy.append(self, of: connection.owner, isBusy: isBusy, on: loop)
    }

    /// Its turn has come.
    func takeTurn(_ time: TimeAmount) {
        guard isScheduled else { return }
        isScheduled = false
        if ending != nil { workOnEnding(until: .now() + time) }
        guard !isProcessing, !isReadingLine, connection != nil else { return }
        _ = work(until: .now() + time)
        endIfGone()
    }

    /// Passes messages to the connection, until the time is up or the backlog is too large.
    /// - Returns: when it ended.
    private func work(until end: NIODeadline) -> NIODeadline {
        guard let connection else { return end }
        isProcessing = true
        resources.isInUse = true
        let isDone = runSlice(connection, until: end)
        resources.isInUse = false
        isProcessing = false
        flush()
        recount()
        let now = NIODeadline.now()
        if !isDone {
            usedTurn = now
            waitForTurn(isBusy: true)
            return now
        }
        if inputHasEnded, !isPaused, !isBusy, let loop {
            finish(connection.endInputInSteps(), of: connection.owner, on: loop)
        }
        readIfPending()
        return now
    }

    /// - Returns: false if the time is up and there is more.
    private func runSlice(_ connection: Connection, until end: NIODeadline) -> Bool {
        var buffer = input
        input = ByteBuffer()
        var done = 0
        let isDone = buffer.withUnsafeReadableBytes { bytes in
            run(connection, bytes.bindMemory(to: UInt8.self), &done, &resources.input, until: end)
        }
        buffer.moveReaderIndex(forwardBy: done)
        if done > 0 { lineCount &+= 1 }
        if buffer.readableBytes > 0, !isClosing {
            if buffer.capacity > LoopResources.longLine, buffer.capacity > 4 * buffer.readableBytes {
                // The memory of a long line must not be kept for the few bytes after it.
                buffer = ByteBuffer(bytes: buffer.readableBytesView)
            } else {
                buffer.discardReadBytes()
            }
            // Input that came during the slice goes after the rest.
            let hasArrived = input.readableBytes > 0
            buffer.writeBuffer(&input)
            input = buffer
            return isDone && !hasArrived
        }
        return isDone && input.readableBytes == 0
    }

    private func run(
        _ connection: Connection,
        _ bytes: UnsafeBufferPointer<UInt8>,
        _ done: inout Int,
        _ state: inout LoopResources.Input,
        until end: NIODeadline
    ) -> Bool {
        // A local variable is not checked for exclusive access with every line.
        var framer = framer
        defer { self.framer = framer }
        var clock = TurnClock(end)
        let deliveries = resources.deliveries
        while !isPaused, !isClosing, !isReadingLine {
            // After each call: one of them may take much of the time.
            if clock.isOver || resources.deliveries &- deliveries > Self.maxDeliveries {
                return batch == nil && done == bytes.count
            }
            if batch != nil {
                receiveNextOfBatch(connection, &state)
                continue
            }
            let rest = UnsafeBufferPointer(rebasing: bytes[done...])
            let (step, consumed) = framer.next(rest)
            done += consumed
            switch step {
            case .line(let range):
                receive(UnsafeBufferPointer(rebasing: rest[range]), connection, &state)
            case .overlong(let start):
                connection.receiveOverlongLine(UnsafeBufferPointer(rebasing: rest[start...].prefix(512)))
            case .needsMore: return true
            }
        }
        return true
    }

    /// Handles one line. An empty one is ignored.
    private func receive(
        _ line: UnsafeBufferPointer<UInt8>,
        _ connection: Connection,
        _ state: inout LoopResources.Input
    ) {
        guard let first = line.first else { return }
        if line.count > LoopResources.longLine, let loop {
            isReadingLine = true
            longLineBytes = line.count
            let handler = NIOLoopBound(self, eventLoop: loop)
            resources.read(line, of: connection.owner, on: loop) {
                handler.value.received($0, WireForm(firstByte: first))
            }
        } else {
            receive(state.reader.read(line), WireForm(firstByte: first), connection, &state)
        }
    }

    private func receive(
        _ line: consuming IncomingLine,
        _ form: WireForm,
        _ connection: Connection,
        _ state: inout LoopResources.Input
    ) {
        switch consume line {
        case .message(let message): receive(message, form, connection, &state)
        case .batch(let batch): self.batch = batch
        }
    }

    private func receive(
        _ message: consuming IncomingMessage,
        _ form: WireForm,
        _ connection: Connection,
        _ state: inout LoopResources.Input
    ) {
        connection.receive(message, &state.table, form: form)
        state.reader.giveBack(message)
    }

    /// Has another thread read a long member of a batch, like a long line.
    private func readBeside(_ member: Batch.Member, _ connection: Connection, _ loop: any EventLoop) {
        isReadingLine = true
        let handler = NIOLoopBound(self, eventLoop: loop)
        resources.read(member, of: connection.owner, on: loop) {
            handler.value.received($0, .bridge)
        }
    }

    /// A long line has been read.
    private func received(_ line: IncomingLine, _ form: WireForm) {
        isReadingLine = false
        longLineBytes = 0
        guard let connection, !isClosing else { return }
        isProcessing = true
        resources.isInUse = true
        receive(line, form, connection, &resources.input)
        resources.isInUse = false
        isProcessing = false
        flush()
        if let loop { resources.trimLater(on: loop) }
        processInput()
        endIfGone()
    }

    private func receiveNextOfBatch(_ connection: Connection, _ state: inout LoopResources.Input) {
        guard var batch else { return }
        self.batch = nil
        guard let member = batch.next() else { return }
        self.batch = batch
        if member.count > LoopResources.longLine, let loop {
            readBeside(member, connection, loop)
        } else {
            receive(state.reader.read(member), .bridge, connection, &state)
        }
    }

    // MARK: Output

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
    private func takeCalls(_ context: ChannelHandlerContext) {
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
    private func scheduleFlush() {
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

    private func flush() {
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
    private func excess(of output: OutputBuffer) -> String? {
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
    private var pauseMark: Int { isTight ? 0 : Self.pauseMark }
    private var resumeMark: Int { isTight ? 0 : Self.resumeMark }
    private var isTight: Bool { connection.map { resources.memory.isUsedUp(by: $0.caller) } ?? false }

    /// Counts what is kept for this connection.
    private func recount() {
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
    private func send(to context: ChannelHandlerContext) {
        var hasWritten = false
        while writtenBytes <= Self.pauseMark, let piece = queue.next(context.channel.allocator) {
            write(piece, context)
            hasWritten = true
        }
        if hasWritten { context.flush() }
    }

    private func write(_ piece: ByteBuffer, _ context: ChannelHandlerContext) {
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
    private func sendMore() {
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

    // MARK: The end

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
    private func closeAfter(_ time: TimeAmount?, _ context: ChannelHandlerContext) {
        if let time, closeTimer == nil {
            closeTimer = context.eventLoop.assumeIsolated().scheduleTask(in: time) { () -> Void in
                self.context?.close(promise: nil)
            }
        } else {
            watchForStall()
        }
    }

    // MARK: Clients that do not read

    private func pause() {
        guard !isPaused else { return }
        isPaused = true
        watchForStall()
    }

    private func resume() {
        isPaused = false
        if calls == nil { stopWatching() }
        if !sensors.isEmpty, let connection {
            for event in sensors.take(droppedForm: connection.droppedForm) { send(event.event, form: event.form) }
        }
        // Not at once: the kernel may have taken bytes while a line of this or another connection is being received.
        waitForTurn(isBusy: true)
    }

    private func stopWatching() {
        stallTimer?.cancel()
        stallTimer = nil
    }

    private func watchForStall() {
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

    private func drop(_ reason: String) {
        guard let context else { return }
        isClosing = true
        logger.warning("dropped a client: \(reason)", metadata: connection.map { ["caller": "\($0.caller)"] })
        context.close(promise: nil)
    }
}
