import Logging
import NIOCore
import QuickConnect

/// One client's connection on its event loop: bytes to lines for its session, messages to bytes.
///
/// What a client has not read yet is its backlog. Above ``pauseMark`` the connection reads no more input, so a
/// client gets no further ahead than that; what comes unasked (events, late replies) may add up to the limit.
final class ConnectionHandler: ChannelDuplexHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private static let welcomeTime = TimeAmount.milliseconds(250)
    private static let pauseMark = 256 << 10
    private static let resumeMark = 64 << 10
    private static let flushMark = 64 << 10
    private static let chunkBytes = 256 << 10

    private(set) var session: Session?
    private let makeSession: (Connection) -> Session
    private let limits: Limits
    private let logger: Logger
    private var context: ChannelHandlerContext?

    private var framer: LineFramer
    private var input = ByteBuffer()
    private var inputHasEnded = false
    private var hasReceived = false
    private var output: [UInt8] = []
    /// Bytes written and not yet taken by the kernel.
    private var writtenBytes = 0
    private var sensors = SensorBacklog()

    private var isProcessing = false
    private var flushIsScheduled = false
    private var isPaused = false
    private var readIsPending = false
    private var isClosing = false
    /// Chunks that the kernel took: whether a paused client reads at all.
    private var progress = 0
    private var stallTimer: Scheduled<Void>?
    private var closeTimer: Scheduled<Void>?

    init(limits: Limits, logger: Logger, makeSession: @escaping (Connection) -> Session) {
        self.limits = limits
        self.logger = logger
        self.makeSession = makeSession
        framer = LineFramer(limit: limits.lineBytes)
    }

    // MARK: Life

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        session = makeSession(Connection(self, context.channel))
    }

    func channelInactive(context: ChannelHandlerContext) {
        stallTimer?.cancel()
        closeTimer?.cancel()
        session?.close()
        session = nil
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

    func read(context: ChannelHandlerContext) {
        if isPaused {
            readIsPending = true
        } else {
            context.read()
        }
    }

    /// Gives the session the whole lines of the input, until the backlog says pause.
    private func processInput() {
        guard !isProcessing, let session else { return }
        isProcessing = true
        var buffer = input
        input = ByteBuffer()
        let done = receiveLines(buffer.readableBytesUInt8Span, session)
        buffer.moveReaderIndex(forwardBy: done)
        if buffer.readableBytes > 0, !isClosing {
            buffer.discardReadBytes()
            input = buffer
        }
        isProcessing = false
        flush()
        if inputHasEnded, !isPaused { session.endInput() }
    }

    /// How many of the bytes are done with.
    private func receiveLines(_ bytes: borrowing Span<UInt8>, _ session: Session) -> Int {
        var done = 0
        // A local one is not checked for exclusive access with every line.
        var framer = framer
        defer { self.framer = framer }
        while !isPaused, !isClosing, done < bytes.count {
            let rest = bytes.extracting(done...)
            let (step, consumed) = framer.next(rest)
            done += consumed
            switch step {
            case .line(let range): session.receive(rest.extracting(range))
            case .overlong(let firstByte): session.receiveOverlongLine(firstByte: firstByte)
            case .needsMore: return done
            }
        }
        return done
    }

    // MARK: Output

    func append(_ message: OutgoingMessage) {
        guard context != nil, !isClosing else { return }
        if isPaused, case .event(let event, let form) = message, event.kind == .sensor {
            sensors.add(event, form: form)
            return
        }
        message.write(to: &output)
        flushSoon()
    }

    func appendLine(_ start: [UInt8], _ id: borrowing Span<UInt8>) {
        guard !isClosing else { return }
        Self.append(start, id, to: &output)
        flushSoon()
    }

    private static func append(_ start: [UInt8], _ id: borrowing Span<UInt8>, to output: inout [UInt8]) {
        output.append(contentsOf: start)
        id.withUnsafeBufferPointer { output.append(contentsOf: $0) }
        output.append(UInt8(ascii: "\n"))
    }

    private func flushSoon() {
        if output.count >= Self.flushMark {
            flush()
        } else if !isProcessing {
            scheduleFlush()
        }
    }

    /// Closes when the daemon stops. A client that has just connected has a moment to say what it came for: it could
    /// not know.
    func finish(within time: TimeAmount) {
        guard let context, !hasReceived else { return closeWhenFlushed(within: time) }
        context.eventLoop.assumeIsolated().scheduleTask(in: Self.welcomeTime) { () -> Void in
            self.closeWhenFlushed(within: time)
        }
    }

    /// Closes when all that was sent has reached the kernel, or when the client does not read it.
    func closeWhenFlushed(within time: TimeAmount? = nil) {
        guard let context, !isClosing else { return }
        flush()
        isClosing = true
        context.writeAndFlush(wrapOutboundOut(ByteBuffer())).assumeIsolated().whenComplete { _ in
            self.context?.close(promise: nil)
        }
        if let time {
            closeTimer = context.eventLoop.assumeIsolated().scheduleTask(in: time) { () -> Void in
                self.context?.close(promise: nil)
            }
        } else if stallTimer == nil {
            watchForStall()
        }
    }

    /// Several messages of one turn of the event loop go out in one write.
    private func scheduleFlush() {
        guard !flushIsScheduled, let context else { return }
        flushIsScheduled = true
        context.eventLoop.assumeIsolated().execute {
            self.flushIsScheduled = false
            self.flush()
        }
    }

    private func flush() {
        guard let context, !output.isEmpty else { return }
        let bytes = output
        output.removeAll(keepingCapacity: bytes.count <= 4 * Self.flushMark)
        var rest = bytes[...]
        while !rest.isEmpty {
            let chunk = rest.prefix(Self.chunkBytes)
            rest = rest.dropFirst(chunk.count)
            write(chunk, context)
        }
        context.flush()
        if writtenBytes > limits.replyBytes {
            drop("more than \(limits.replyBytes) bytes of replies wait for it")
        } else if writtenBytes > Self.pauseMark {
            pause()
        }
    }

    private func write(_ chunk: ArraySlice<UInt8>, _ context: ChannelHandlerContext) {
        let count = chunk.count
        writtenBytes += count
        let buffer = context.channel.allocator.buffer(bytes: chunk)
        context.write(wrapOutboundOut(buffer)).assumeIsolated().whenSuccess {
            self.writtenBytes -= count
            self.progress += 1
            if self.isPaused, self.writtenBytes <= Self.resumeMark { self.resume() }
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
        if !sensors.isEmpty, let session {
            let form = session.frontController.events.form(of: session, for: EventHub.dropped)
            for message in sensors.take(droppedForm: form) { append(message) }
        }
        processInput()
        if readIsPending, !isPaused {
            readIsPending = false
            context?.read()
        }
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
        logger.warning("dropped a client: \(reason)", metadata: session.map { ["caller": "\($0.caller)"] })
        context.close(promise: nil)
    }
}
