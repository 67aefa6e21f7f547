internal import Glibc
import JSON
import NIOCore
import NIOPosix
import QuickConnect

/// What the connections of one event loop share, so that ten thousand idle ones need none of it.
final class LoopResources {
    /// What reading lines needs, handed through a slice as one.
    struct Input {
        var reader: MessageReader
        var table = FrontController.CurrentTable()
    }

    var input: Input
    /// Whether a slice runs now: there is one input for all.
    var isInUse = false
    private var flushes = CircularBuffer<ConnectionHandler>()
    private var isFlushing = false
    private static let flushTime = TimeAmount.milliseconds(1)
    private static let breath = TimeAmount.microseconds(20)
    private var buffers: [OutputBuffer] = []
    /// The loop's thread; nil where it has none of its own, as a loop of tests.
    let thread: pthread_t?
    private let longLines: NIOThreadPool
    private let maximumDepth: Int
    private let isIdle: @Sendable () -> Void
    private var trimming: Scheduled<Void>?

    /// Lines longer than this are read by another thread: checking four megabytes takes longer than others should wait.
    static let longLine = 64 << 10
    /// How long after the last long line memory is given back.
    private static let trimTime = TimeAmount.milliseconds(300)

    /// - Parameters:
    ///   - thread: the loop's own.
    ///   - longLines: reads them.
    ///   - isIdle: called some time after the last long line, to give its memory back.
    init(
        maximumDepth: Int,
        thread: pthread_t? = nil,
        longLines: NIOThreadPool,
        isIdle: @escaping @Sendable () -> Void
    ) {
        self.thread = thread
        self.maximumDepth = maximumDepth
        self.longLines = longLines
        self.isIdle = isIdle
        input = Input(reader: MessageReader(maximumDepth: maximumDepth))
    }

    /// A buffer for the lines of one connection, until it gives it back.
    func takeBuffer() -> OutputBuffer { buffers.popLast() ?? OutputBuffer(capacity: 64 << 10) }

    func giveBack(_ buffer: OutputBuffer) {
        buffer.removeAll()
        if buffers.count < 4 { buffers.append(buffer) }
    }

    /// Lets a connection send when those before it have: an event may have many subscribers.
    func flushLater(_ handler: ConnectionHandler, on eventLoop: any EventLoop) {
        flushes.append(handler)
        guard !isFlushing else { return }
        isFlushing = true
        eventLoop.assumeIsolated().execute { self.flushSome(on: eventLoop) }
    }

    private func flushSome(on eventLoop: any EventLoop) {
        let end = NIODeadline.now() + Self.flushTime
        while let handler = flushes.popFirst() {
            handler.flushScheduled()
            if .now() >= end { break }
        }
        isFlushing = !flushes.isEmpty
        if isFlushing { eventLoop.assumeIsolated().scheduleTask(in: Self.breath) { self.flushSome(on: eventLoop) } }
    }

    /// Reads a long line beside the event loop, on which `body` then gets it.
    func read(
        _ line: UnsafeBufferPointer<UInt8>,
        on eventLoop: any EventLoop,
        _ body: @escaping @Sendable (IncomingLine) -> Void
    ) {
        let bytes = SharedBytes(copying: line)
        let depth = maximumDepth
        longLines.submit { _ in
            var reader = MessageReader(maximumDepth: depth)
            let incoming = withExtendedLifetime(bytes) { reader.read(bytes.slice(0..<bytes.count)) }
            eventLoop.execute { body(incoming) }
        }
        trimLater(on: eventLoop)
    }

    /// Reads a long member of a batch, the same way.
    func read(
        _ member: Batch.Member,
        on eventLoop: any EventLoop,
        _ body: @escaping @Sendable (IncomingLine) -> Void
    ) {
        let depth = maximumDepth
        longLines.submit { _ in
            var reader = MessageReader(maximumDepth: depth)
            let message = reader.read(member)
            eventLoop.execute { body(.message(message)) }
        }
        trimLater(on: eventLoop)
    }

    /// Gives memory back once no large message has come for a while.
    func trimLater(on eventLoop: any EventLoop) {
        trimming?.cancel()
        let isIdle = isIdle
        let pool = longLines
        trimming = eventLoop.scheduleTask(in: Self.trimTime) { pool.submit { _ in isIdle() } }
    }
}
