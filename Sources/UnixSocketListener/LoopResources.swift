internal import Glibc
import JSON
import NIOCore
import NIOPosix
import QuickConnect

/// Shared by the connections of one event loop, so that ten thousand idle ones need no memory for it.
final class LoopResources {
    /// The state for reading lines, passed through a slice as one value.
    struct Input {
        var reader: MessageReader
        var table = FrontController.CurrentTable()
    }

    var input: Input
    /// Whether a slice is running; all connections share one input state.
    var isInUse = false
    private var flushes = CircularBuffer<ConnectionHandler>()
    private var isFlushing = false
    private static let flushTime = TimeAmount.milliseconds(1)
    private static let breath = TimeAmount.microseconds(20)
    private var buffers: [OutputBuffer] = []
    /// The loop's thread; nil for a loop without its own thread, as in tests.
    let thread: pthread_t?
    private let longLines: NIOThreadPool
    private let maximumDepth: Int
    private let isIdle: @Sendable () -> Void
    private var trimming: Scheduled<Void>?

    /// Longer lines are read by another thread: checking four megabytes takes too long for the loop.
    static let longLine = 64 << 10
    /// How long after the last long line memory is freed.
    private static let trimTime = TimeAmount.milliseconds(300)

    /// - Parameters:
    ///   - thread: the loop's own thread.
    ///   - longLines: the thread that reads long lines.
    ///   - isIdle: called some time after the last long line, to free its memory.
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

    /// A buffer for the lines of one connection, which must return it.
    func takeBuffer() -> OutputBuffer { buffers.popLast() ?? OutputBuffer(capacity: 64 << 10) }

    func giveBack(_ buffer: OutputBuffer) {
        buffer.removeAll()
        if buffers.count < 4 { buffers.append(buffer) }
    }

    /// Lets a connection send after the earlier ones, because an event may have many subscribers.
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

    /// Reads a long line off the event loop, and then calls `body` on the loop.
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

    /// Frees memory when no large message has come for a while.
    func trimLater(on eventLoop: any EventLoop) {
        trimming?.cancel()
        let isIdle = isIdle
        let pool = longLines
        trimming = eventLoop.scheduleTask(in: Self.trimTime) { pool.submit { _ in isIdle() } }
    }
}
