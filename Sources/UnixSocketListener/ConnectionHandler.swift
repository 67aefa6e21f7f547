import JSON
import Logging
import NIOCore
import QuickConnect

/// One client's connection on its event loop: bytes to lines for its conversation, lines to bytes.
///
/// Input is processed in slices of a millisecond, so that no client delays the others, however much it sends. What a
/// client has not read yet is its backlog. Above ``pauseMark`` the connection stops reading input, which bounds the
/// replies of a client that does not read; events and late replies may add up to the limit.
final class ConnectionHandler: ChannelDuplexHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private static let welcomeTime = TimeAmount.milliseconds(250)
    private static let sliceTime = TimeAmount.milliseconds(1)
    private static let smallLine = 1 << 10
    private static let breath = TimeAmount.microseconds(20)
    private static let pauseMark = 256 << 10
    private static let resumeMark = 64 << 10
    private static let flushMark = 64 << 10

    private(set) var connection: Connection?
    /// Makes the connection; nil once there is one.
    private var makeConnection: ((SocketOutput) -> Connection)?
    private let limits: Limits
    private let logger: Logger
    private let resources: LoopResources
    private var context: ChannelHandlerContext?

    // Input
    private var framer: LineFramer
    private var input = ByteBuffer()
    private var batch: Batch?
    /// Whether another thread is reading a long line; the lines after it wait.
    private var isReadingLine = false
    private var isProcessing = false
    private var isScheduled = false
    private var readIsPending = false
    private var inputHasEnded = false
    private var hasReceived = false

    // Output
    private var output: OutputBuffer?
    private var queue = OutgoingQueue()
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
        connection = makeConnection?(SocketOutput(self, context.channel, thread: resources.thread))
        makeConnection = nil
    }

    func channelInactive(context: ChannelHandlerContext) {
        stallTimer?.cancel()
        closeTimer?.cancel()
        connection?.close()
        connection = nil
        if let output { resources.giveBack(output) }
        output = nil
        self.context = nil
        context.fireChannelInactive()
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case .some(ChannelEvent.inputClosed) = event as? ChannelEvent {
            inputHasEnded = true
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
        var buffer = unwrapInboundIn(data)
        if input.readableBytes == 0 {
            input = buffer
        } else {
            input.writeBuffer(&buffer)
        }
        processInput()
    }

    /// Whether there is more input to process.
    private var isBusy: Bool { isReadingLine || isScheduled || batch != nil }

    func read(context: ChannelHandlerContext) {
        if isPaused || isBusy {
            readIsPending = true
        } else {
            context.read()
        }
    }

    private func readIfPending() {
        guard readIsPending, !isPaused, !isBusy else { return }
        readIsPending = false
        context?.read()
    }

    /// Passes messages to the connection, for one slice or until the backlog is too large.
    private func processInput() {
        guard !isProcessing, !isScheduled, !isReadingLine, let connection else { return }
        // When a write fails because a client is gone, NIO reads the rest of its input, possibly during another
        // connection's slice.
        guard !resources.isInUse else { return continueLater() }
        isProcessing = true
        resources.isInUse = true
        let isDone = runSlice(connection, until: .now() + Self.sliceTime)
        resources.isInUse = false
        isProcessing = false
        flush()
        if !isDone { return continueLater() }
        if inputHasEnded, !isPaused, !isBusy { connection.endInput() }
        readIfPending()
    }

    /// Continues after the other connections have had their turn. A task due at once would run before them: the loop
    /// polls its descriptors only when no such task is left.
    private func continueLater() {
        guard !isScheduled, let context else { return }
        isScheduled = true
        context.eventLoop.assumeIsolated().scheduleTask(in: Self.breath) {
            self.isScheduled = false
            self.processInput()
        }
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
        if buffer.readableBytes > 0, !isClosing {
            if buffer.capacity > LoopResources.longLine, buffer.capacity > 4 * buffer.readableBytes, let context {
                // The memory of a long line must not be kept for the few bytes after it.
                var rest = context.channel.allocator.buffer(capacity: buffer.readableBytes)
                rest.writeBuffer(&buffer)
                buffer = rest
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
        var count = 0
        while !isPaused, !isClosing, !isReadingLine {
            count += 1
            if count & 7 == 0, .now() >= end { return false }
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
                // Anything but a small line may have taken much of the time, so the clock is checked soon.
                if range.count > Self.smallLine { count |= 7 }
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
        if line.count > LoopResources.longLine, let context {
            isReadingLine = true
            let handler = NIOLoopBound(self, eventLoop: context.eventLoop)
            resources.read(line, on: context.eventLoop) { handler.value.received($0, WireForm(firstByte: first)) }
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
    private func readBeside(_ member: Batch.Member, _ context: ChannelHandlerContext) {
        isReadingLine = true
        let handler = NIOLoopBound(self, eventLoop: context.eventLoop)
        resources.read(member, on: context.eventLoop) { handler.value.received($0, .bridge) }
    }

    /// A long line has been read.
    private func received(_ line: IncomingLine, _ form: WireForm) {
        isReadingLine = false
        guard let connection, !isClosing else { return }
        isProcessing = true
        resources.isInUse = true
        receive(line, form, connection, &resources.input)
        resources.isInUse = false
        isProcessing = false
        flush()
        if let context { resources.trimLater(on: context.eventLoop) }
        processInput()
    }

    private func receiveNextOfBatch(_ connection: Connection, _ state: inout LoopResources.Input) {
        guard var batch else { return }
        self.batch = nil
        guard let member = batch.next() else { return }
        self.batch = batch
        if member.count > LoopResources.longLine, let context {
            readBeside(member, context)
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

    func send(_ event: Event, form: WireForm) {
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
        resources.flushLater(self, on: context.eventLoop)
    }

    /// Its turn to send has come.
    func flushScheduled() {
        flushIsScheduled = false
        flush()
    }

    private func flush() {
        guard let context, let output, !output.isEmpty else { return }
        guard writtenBytes + queue.count <= limits.replyBytes else {
            return drop("more than \(limits.replyBytes) bytes of replies wait for it")
        }
        queue.append(output, context.channel.allocator)
        resources.giveBack(output)
        self.output = nil
        // Done before sending, because the kernel's progress triggers more output only while the connection is paused.
        if writtenBytes + queue.count > Self.pauseMark { pause() }
        send(to: context)
        if !queue.isEmpty { pause() }
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
            if self.isPaused || !self.queue.isEmpty { self.sendMore() }
        }
    }

    /// The kernel has taken some of a paused client's output.
    private func sendMore() {
        if writtenBytes <= Self.resumeMark, !queue.isEmpty, let context { send(to: context) }
        if closesWhenSent, queue.isEmpty { return closeWhenFlushed() }
        if isPaused, queue.isEmpty, writtenBytes <= Self.resumeMark { resume() }
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
        } else if stallTimer == nil {
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
        stallTimer?.cancel()
        stallTimer = nil
        if !sensors.isEmpty, let connection {
            for event in sensors.take(droppedForm: connection.droppedForm) { send(event.event, form: event.form) }
        }
        // Not at once: the kernel may have taken bytes while a line of this or another connection is being received.
        continueLater()
    }

    private func watchForStall() {
        guard let context else { return }
        let seen = progress
        let time = TimeAmount.milliseconds(Int64(limits.stalledSeconds * 1000))
        stallTimer = context.eventLoop.assumeIsolated().scheduleTask(in: time) {
            if self.progress == seen {
                self.drop("it has read nothing for \(self.limits.stalledSeconds) s")
            } else {
                self.watchForStall()
            }
        }
    }

    private func drop(_ reason: String) {
        guard let context else { return }
        isClosing = true
        logger.warning("dropped a client: \(reason)", metadata: connection.map { ["caller": "\($0.caller)"] })
        context.close(promise: nil)
    }
}
