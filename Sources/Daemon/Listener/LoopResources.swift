import Fairness
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
    /// Of whom connections have input left to process though their clients are gone; of more, it is dropped.
    private var gone = Budget<Owner>(limit: 64, minimum: 2)
    /// Events sent to connections since the start: a post to many is much work of one call.
    var deliveries = 0
    let busy: BusyConnections
    let unread: UnreadConnections
    let memory: PeerMemory
    private var buffers: [OutputBuffer] = []
    /// The loop's thread; nil for a loop without its own thread, as in tests.
    let thread: pthread_t?
    private let longLines: NIOThreadPool
    /// Long lines that wait for that thread.
    private var unreadLines = Ring<Owner, @Sendable () -> @Sendable () -> Void>()
    private var isReadingLines = false
    private let maximumDepth: Int
    private let trim: @Sendable () -> Void
    private var trimming: Scheduled<Void>?

    /// Longer lines are read by another thread: checking four megabytes takes too long for the loop.
    static let longLine = 64 << 10
    /// How long after something large memory is freed. Later ones do not put it off: what is free between the blocks of
    /// those that remain would grow as long as they come.
    private static let trimTime = TimeAmount.milliseconds(300)

    /// - Parameters:
    ///   - memory: what is kept for the peers.
    ///   - polls: those of the loop; nil for a loop that does not count them.
    ///   - thread: the loop's own thread.
    ///   - longLines: the thread that reads long lines.
    ///   - trim: gives the memory that is free back to the system.
    init(
        maximumDepth: Int,
        memory: PeerMemory,
        polls: Polls? = nil,
        thread: pthread_t? = nil,
        longLines: NIOThreadPool,
        trim: @escaping @Sendable () -> Void
    ) {
        self.thread = thread
        self.memory = memory
        unread = UnreadConnections(memory)
        busy = BusyConnections(polls)
        self.maximumDepth = maximumDepth
        self.longLines = longLines
        self.trim = trim
        input = Input(reader: MessageReader(maximumDepth: maximumDepth))
    }

    /// Whether what a client has sent before it went is still processed. `endInput(of:)` follows.
    func keepsInput(of connection: Connection) -> Bool {
        let caller = connection.caller
        guard !memory.isUsedUp(by: caller) else { return false }
        return gone.take(1, for: connection.owner, memory.share(of: caller))
    }

    /// What a client has sent before it went has been processed.
    func endInput(of connection: Connection) { gone.add(-1, to: connection.owner) }

    /// A buffer for the lines of one connection, which must return it.
    func takeBuffer() -> OutputBuffer { buffers.popLast() ?? OutputBuffer(capacity: 64 << 10) }

    func giveBack(_ buffer: OutputBuffer) {
        buffer.removeAll()
        if buffers.count < 4 { buffers.append(buffer) }
    }

    /// Reads a long line off the event loop, and then calls `body` on the loop.
    func read(
        _ line: UnsafeBufferPointer<UInt8>,
        of peer: Owner,
        on eventLoop: any EventLoop,
        _ body: @escaping @Sendable (IncomingLine) -> Void
    ) {
        let bytes = SharedBytes(copying: line)
        let depth = maximumDepth
        readBeside(of: peer, on: eventLoop) {
            var reader = MessageReader(maximumDepth: depth)
            let incoming = withExtendedLifetime(bytes) { reader.read(bytes.slice(0..<bytes.count)) }
            return { body(incoming) }
        }
    }

    /// Reads a long member of a batch, the same way.
    func read(
        _ member: Batch.Member,
        of peer: Owner,
        on eventLoop: any EventLoop,
        _ body: @escaping @Sendable (IncomingLine) -> Void
    ) {
        let depth = maximumDepth
        readBeside(of: peer, on: eventLoop) {
            var reader = MessageReader(maximumDepth: depth)
            let message = reader.read(member)
            return { body(.message(message)) }
        }
    }

    /// Runs `read` on the thread of the long lines, in turns of the peers, and what it returns on the loop.
    private func readBeside(
        of peer: Owner,
        on eventLoop: any EventLoop,
        _ read: @escaping @Sendable () -> @Sendable () -> Void
    ) {
        unreadLines.append(read, of: peer)
        readNextLine(on: eventLoop)
        trimLater(on: eventLoop)
    }

    private func readNextLine(on eventLoop: any EventLoop) {
        guard !isReadingLines, let read = unreadLines.next() else { return }
        isReadingLines = true
        let resources = NIOLoopBound(self, eventLoop: eventLoop)
        longLines.submit { _ in
            let finish = read()
            eventLoop.execute {
                // First, so that there is only one large message at a time.
                finish()
                resources.value.isReadingLines = false
                resources.value.readNextLine(on: eventLoop)
            }
        }
    }

    /// Gives memory back to the system soon.
    func trimLater(on eventLoop: any EventLoop) {
        guard trimming == nil else { return }
        let (trim, pool) = (trim, longLines)
        let resources = NIOLoopBound(self, eventLoop: eventLoop)
        trimming = eventLoop.scheduleTask(in: Self.trimTime) {
            resources.value.trimming = nil
            pool.submit { _ in trim() }
        }
    }
}
