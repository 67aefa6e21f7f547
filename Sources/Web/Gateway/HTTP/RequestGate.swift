internal import Glibc
internal import NIOCore

/// Passes on the bytes of one request at a time, in slices, and does not read the connection meanwhile: a client that
/// sends many requests and reads no answer costs one request and one answer.
final class RequestGate: ChannelDuplexHandler, RemovableChannelHandler, Worker {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer
    typealias OutboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    /// What comes next.
    enum Wants: Equatable {
        case head
        /// The rest of a body: so many bytes; nil: it is in chunks.
        case body(left: Int?)
        /// An answer is under way.
        case nothing
        /// The connection ends; so many bytes are still dropped, so that the client reads the answer before it is told.
        case end(left: Int)
    }

    /// The head is not complete, and its peer has used up its share of the memory.
    struct NoShare: Error {}

    var wants = Wants.head
    /// Whether the rest of a body waits until what came before has been written.
    var isPaused = false { didSet { if oldValue, !isPaused { proceed() } } }
    /// Passes on what the last slice of a chunked body had after its end; false if there is nothing.
    var replay: () -> Bool = { false }

    private let turns: Turns
    private let holding: Holding
    private let clock: ConnectionClock
    private var context: ChannelHandlerContext?
    private var input = ByteBuffer()
    /// How much of the input has no end of a head in it.
    private var scanned = 0
    private var counted = 0
    /// The bytes of the head whose answer has not been sent yet: the request keeps what is in it.
    private var headBytes = 0
    private var isReceivingHead = true
    private var readIsPending = false
    private var isRunning = false
    var isWaiting = false
    var peer: WebPeer { holding.peer }

    private static let pieceBytes = 16 << 10
    /// Where chunks end is not known here, so a piece may have further requests in it, but not many.
    private static let chunkBytes = 512
    private static let droppedBytes = 256 << 10
    /// A head that comes in two pieces, as some do, is let in up to this size even if its peer's share is used up.
    private static let smallHeadBytes = 4 << 10

    init(_ turns: Turns, _ holding: Holding, _ clock: ConnectionClock) {
        self.turns = turns
        self.holding = holding
        self.clock = clock
    }

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        clock.begin(.head, context.channel)
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        clock.stop()
        replay = { false }
        self.context = nil
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        var bytes = unwrapInboundIn(data)
        if case .end(let left) = wants {
            wants = .end(left: left - bytes.readableBytes)
            if left < bytes.readableBytes { context.close(promise: nil) }
            return
        }
        // What a client sends right before it hangs up is all read at once, even if nothing is wanted.
        guard input.readableBytes < Self.droppedBytes else { return context.close(promise: nil) }
        if input.readableBytes == 0 { input = bytes } else { input.writeBuffer(&bytes) }
        count()
        if wants == .head { beginHead() }
        proceed()
    }

    /// The reading is done in ``work(until:)``.
    func channelReadComplete(context: ChannelHandlerContext) {}

    func read(context: ChannelHandlerContext) {
        if mayRead { context.read() } else { readIsPending = true }
    }

    private var mayRead: Bool {
        switch wants {
        case .nothing: false
        case .end: true
        case .body where isPaused: false
        case .head, .body: !hasPiece && input.readableBytes <= HTTPHandlers.headBytes
        }
    }

    private func readIfPending() {
        guard readIsPending, mayRead else { return }
        readIsPending = false
        context?.read()
    }

    /// The deadline of a head begins with its first byte, or when the answer before it has been sent.
    private func beginHead() {
        guard !isReceivingHead, let context else { return }
        isReceivingHead = true
        clock.begin(.head, context.channel)
    }

    /// The answer has been sent, so the next request may come.
    func nextRequest() {
        guard let context else { return }
        (wants, isPaused) = (.head, false)
        isReceivingHead = false
        headBytes = 0
        count()
        if input.readableBytes > 0 { beginHead() } else { clock.begin(.rest, context.channel) }
        proceed()
    }

    /// Goes on, now or in its turn.
    func proceed() {
        guard !isRunning else { return }
        turns.begin(self)
    }

    /// No more requests are read.
    func drop() {
        wants = .end(left: Self.droppedBytes)
        _ = takeRest()
        readIfPending()
    }

    /// What has come after the request.
    func takeRest() -> ByteBuffer {
        let rest = input
        (input, scanned, headBytes) = (ByteBuffer(), 0, 0)
        count()
        return rest
    }

    private func count() { holding.change(&counted, to: input.readableBytes + headBytes) }

    func work(until end: NIODeadline) -> Bool {
        isRunning = true
        var hasPassed = false
        var isLate = false
        while let context, !isLate {
            if wants == .head, replay() {
                hasPassed = true
            } else if let piece = nextPiece() {
                hasPassed = true
                // First, so that a body is not counted twice.
                count()
                context.fireChannelRead(wrapInboundOut(piece))
            } else {
                break
            }
            isLate = NIODeadline.now() >= end
        }
        count()
        if wants == .head, input.readableBytes > Self.smallHeadBytes, holding.isUsedUp, !hasPiece { refuseHead() }
        isRunning = false
        if hasPassed { context?.fireChannelReadComplete() }
        readIfPending()
        return context != nil && hasPiece
    }

    private func refuseHead() {
        _ = takeRest()
        wants = .nothing
        context?.fireErrorCaught(NoShare())
    }

    // MARK: Pieces

    private var hasPiece: Bool { pieceCount() > 0 }

    /// How many bytes may be passed on now.
    private func pieceCount() -> Int {
        guard input.readableBytes > 0 else { return 0 }
        switch wants {
        case .head: return headCount()
        case .body where isPaused: return 0
        case .body(let left?): return min(left, input.readableBytes, Self.pieceBytes)
        case .body(nil): return min(input.readableBytes, Self.chunkBytes)
        case .nothing, .end: return 0
        }
    }

    private func nextPiece() -> ByteBuffer? {
        let count = pieceCount()
        guard count > 0, let piece = input.readSlice(length: count) else { return nil }
        scanned = 0
        if wants == .head { headBytes += count }
        if case .body(let left?) = wants { wants = .body(left: left - count) }
        if input.readableBytes == 0 { input = ByteBuffer() }
        return piece
    }

    /// Up to the first empty line, where a head ends; all if this is no head, or too long: the parser then says so.
    private func headCount() -> Int {
        let all = input.readableBytes
        let count = input.withUnsafeReadableBytes { bytes -> Int in
            guard let first = bytes.first, first < 0x5B, first >= 0x41 || first == 0x0A || first == 0x0D else {
                return all
            }
            return Self.emptyLine(in: bytes, from: scanned)
        }
        if count == 0 { scanned = max(0, all - 2) }
        return count == 0 && all > HTTPHandlers.headBytes ? all : count
    }

    /// The position after the first empty line; 0 if there is none.
    private static func emptyLine(in bytes: UnsafeRawBufferPointer, from start: Int) -> Int {
        var start = start
        while let base = bytes.baseAddress, start < bytes.count,
            let found = memchr(base + start, 0x0A, bytes.count - start)
        {
            let end = UnsafeRawPointer(found) - base + 1
            if end == 1 || (end == 2 && bytes[0] == 0x0D) { return end }
            if end < bytes.count, bytes[end] == 0x0A { return end + 1 }
            if end + 1 < bytes.count, bytes[end] == 0x0D, bytes[end + 1] == 0x0A { return end + 2 }
            start = end
        }
        return 0
    }
}
