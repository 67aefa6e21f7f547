import Concurrency
import JSON
import QuickConnect
import Runtime

/// Shared by the connections of one loop, so that ten thousand idle ones need no memory for it.
final class LoopResources {
    /// The state for reading lines, passed through a slice as one value.
    struct Input {
        var reader: MessageReader
        var table = FrontController.CurrentTable()
    }

    var input: Input
    /// What one read has brought; the next one uses it again.
    let received = UnsafeMutableRawBufferPointer.allocate(byteCount: 64 << 10, alignment: 16)
    /// Of whom connections have input left to process though their clients are gone; of more, it is dropped.
    private var gone = Budget<Owner>(limit: 64, minimum: 2)
    /// The same of those that have left little, such as one call.
    private var goneWithLittle = Budget<Owner>(limit: 1024, minimum: 16)
    /// Events sent to connections since the start: a post to many is much work of one call.
    var deliveries = 0
    let loop: Loop
    let busy = BusyConnections()
    let unread: UnreadConnections
    let memory: PeerMemory
    private var buffers: [OutputBuffer] = []
    /// Reads long lines, and gives back memory; it starts with the first.
    private let longLines = SideThread<Void>("qc-lines", wake: {})
    /// Long lines that wait for that thread.
    private var unreadLines = Ring<Owner, @Sendable () -> @Sendable () -> Void>()
    private var isReadingLines = false
    private let maximumDepth: Int
    private let trim: @Sendable () -> Void
    private var isTrimming = false

    /// Longer lines are read by another thread: checking four megabytes takes too long for the loop.
    static let longLine = 64 << 10
    /// How long after something large memory is freed. Later ones do not put it off: what is free between the blocks of
    /// those that remain would grow as long as they come.
    private static let trimTime = LoopSpan.milliseconds(300)

    /// - Parameters:
    ///   - memory: what is kept for the peers.
    ///   - trim: gives the memory that is free back to the system.
    init(on loop: Loop, maximumDepth: Int, memory: PeerMemory, trim: @escaping @Sendable () -> Void) {
        self.loop = loop
        self.memory = memory
        unread = UnreadConnections(memory, loop)
        self.maximumDepth = maximumDepth
        self.trim = trim
        input = Input(reader: MessageReader(maximumDepth: maximumDepth))
        let busy = busy
        loop.turn = { busy.takeTurn() }
    }

    deinit { received.deallocate() }

    /// Asks whether the rest of what a client has sent before it went is still processed.
    /// - Returns: whether it is; it is counted until `endInput(of:isLittle:)`.
    func keepsInput(of connection: Connection, isLittle: Bool) -> Bool {
        let (caller, owner) = (connection.caller, connection.owner)
        let share = memory.share(of: caller)
        if isLittle { return goneWithLittle.take(1, for: owner, share) }
        return !memory.isUsedUp(by: caller) && gone.take(1, for: owner, share)
    }

    /// What a client has sent before it went has been processed.
    func endInput(of owner: Owner, isLittle: Bool) {
        if isLittle { goneWithLittle.add(-1, to: owner) } else { gone.add(-1, to: owner) }
    }

    /// A buffer for the lines of one connection, which must return it.
    func takeBuffer() -> OutputBuffer { buffers.popLast() ?? OutputBuffer(capacity: 64 << 10) }

    func giveBack(_ buffer: OutputBuffer) {
        buffer.removeAll()
        if buffers.count < 4 { buffers.append(buffer) }
    }

    /// Reads a long line off the loop, and then calls `body` on the loop.
    func read(
        _ line: UnsafeBufferPointer<UInt8>,
        of peer: Owner,
        _ body: @escaping @Sendable (IncomingLine) -> Void
    ) {
        let bytes = SharedBytes(copying: line)
        readBeside(of: peer, body) { reader in
            withExtendedLifetime(bytes) { reader.read(bytes.slice(0..<bytes.count)) }
        }
    }

    /// Reads a long member of a batch, the same way.
    func read(_ member: Batch.Member, of peer: Owner, _ body: @escaping @Sendable (IncomingLine) -> Void) {
        readBeside(of: peer, body) { .message($0.read(member)) }
    }

    /// Runs `read` on the thread of the long lines, in turns of the peers, and `body` on the loop.
    private func readBeside(
        of peer: Owner,
        _ body: @escaping @Sendable (IncomingLine) -> Void,
        _ read: @escaping @Sendable (inout MessageReader) -> IncomingLine
    ) {
        let depth = maximumDepth
        let job = { @Sendable in
            var reader = MessageReader(maximumDepth: depth)
            let incoming = read(&reader)
            return { @Sendable in body(incoming) }
        }
        unreadLines.append(job, of: peer)
        readNextLine()
        trimLater()
    }

    private func readNextLine() {
        guard !isReadingLines, let read = unreadLines.next() else { return }
        isReadingLines = true
        let (loop, resources) = (loop, LoopBound(self, on: loop))
        longLines.run(for: "") {
            let finish = read()
            loop.execute {
                // First, so that there is only one large message at a time.
                finish()
                resources.value.isReadingLines = false
                resources.value.readNextLine()
            }
        }
    }

    /// Gives memory back to the system soon.
    func trimLater() {
        guard !isTrimming else { return }
        isTrimming = true
        _ = loop.after(Self.trimTime) {
            self.isTrimming = false
            let trim = self.trim
            self.longLines.run(for: "") { trim() }
        }
    }
}

/// Who has how many of the places of one socket. A value without I/O.
///
/// A peer has a share of them, and a few are kept for root and the daemon's user. A peer that has its share gets one more
/// by losing one that is idle; where all places are taken, the peer with the most loses one.
struct ConnectionPlaces {
    /// What a newcomer gets.
    enum Verdict: Equatable {
        case taken
        /// There is a place if this peer loses an idle connection.
        case takenIfFreed(by: Owner)
        case refused
    }

    var limit: Int
    var count: Int { taken.used }
    private var taken = Budget<Owner>(limit: .max)

    /// Places that only root and the daemon's user take.
    private static let kept = 8

    init(limit: Int) { self.limit = limit }

    /// Where there are few places, a share would be none, and those who come are few.
    private var hasShares: Bool { limit >= 4 * Self.kept }

    func verdict(on peer: Owner, _ share: Share) -> Verdict {
        if share == .whole || !hasShares { return count < limit ? .taken : .refused }
        guard taken.used(by: peer) < share.part(of: limit) else { return .takenIfFreed(by: peer) }
        if count < limit - Self.kept { return .taken }
        guard let most = taken.largest(1).first, most.used > taken.used(by: peer) + 1 else { return .refused }
        return .takenIfFreed(by: most.peer)
    }

    mutating func add(_ peer: Owner) { taken.add(1, to: peer) }

    mutating func remove(_ peer: Owner) { taken.add(-1, to: peer) }
}
