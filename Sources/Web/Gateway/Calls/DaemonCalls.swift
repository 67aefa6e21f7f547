internal import NIOCore
internal import QuickConnectClient

/// The connection to the daemon for one HTTP connection that makes calls. For use on its event loop only.
///
/// It is made for the first call, and again if the user changes or the daemon was away meanwhile.
final class DaemonCalls {
    private let dialer: DaemonDialer
    let holding: Holding
    private let fair: Fairly
    private var line: CallLine?
    private var user: DaemonUser?
    /// Whether somebody may still come in.
    private let knows: (WebRequest.Sender) -> Bool
    private var isClosed = false
    /// Whether the next call must go over the same connection as the last one, which belongs to a file being written.
    var isHeld = false

    init(_ dialer: DaemonDialer, _ holding: Holding, _ fair: Fairly, knows: @escaping (WebRequest.Sender) -> Bool) {
        self.dialer = dialer
        self.holding = holding
        self.fair = fair
        self.knows = knows
    }

    /// Reads a body, on another thread if it is large. Fails with ``CallLines/TooMany``.
    func read(_ body: ByteBuffer) -> EventLoopFuture<CallLines> {
        guard body.readableBytes > CallLines.smallBody else {
            let lines = Result { try CallLines(body: body) }
            return dialer.loop.makeCompletedFuture(lines)
        }
        // The lines are a second copy. It is counted, but not refused: the body was let in, and would be again.
        holding.add(body.readableBytes)
        let holding = holding
        return readOn(CallLines(of: body)).assumeIsolated().always { _ in
            holding.add(-body.readableBytes)
        }.nonisolated()
    }

    private func readOn(_ lines: CallLines) -> EventLoopFuture<CallLines> {
        beside { () throws -> CallLines in
            var lines = lines
            try lines.readPiece()
            return lines
        }.assumeIsolated().flatMap { lines in
            lines.isComplete ? self.dialer.loop.makeSucceededFuture(lines) : self.readOn(lines)
        }.nonisolated()
    }

    /// Runs what takes long for much on another thread, in its peer's turn.
    func beside<Result: Sendable>(_ body: @escaping @Sendable () throws -> Result) -> EventLoopFuture<Result> {
        fair.parser.run(for: holding.peer, body)
    }

    /// Takes memory of its user's share, if there is that much left.
    func take(_ bytes: Int) -> Bool { holding.take(bytes) }

    /// Makes calls.
    /// - Returns: their replies in the same order, or a ``DaemonRefusal``.
    func make(_ calls: [[UInt8]], for sender: WebRequest.Sender) -> EventLoopFuture<[CallReply]> {
        guard let user = sender.user else {
            return dialer.loop.makeFailedFuture(DaemonRefusal(code: "denied", message: "the caller is not logged in"))
        }
        if let line, line.isAlive, self.user == user { return line.make(calls) }
        if isHeld, line != nil {
            return dialer.loop.makeFailedFuture(DaemonRefusal.away("it has closed the connection"))
        }
        release()
        let isIdle = { [weak self] in self.map { !$0.isHeld && $0.line?.isIdle ?? false } ?? false }
        let connected = dialer.connect(for: user.identity, session: user.session, isIdle: isIdle)
        return connected.assumeIsolated().flatMapThrowing { channel in
            let line = try CallLine(channel, self.holding, self.fair.turns)
            guard !self.isClosed, self.knows(sender) else {
                line.close()
                throw DaemonRefusal.away("the caller is gone")
            }
            (self.line, self.user) = (line, user)
            return line
        }.flatMap { (line: CallLine) in line.make(calls) }.nonisolated()
    }

    func close() {
        isClosed = true
        release()
    }

    /// Ends the connection to the daemon; the next call makes another one.
    func release() {
        line?.close()
        line = nil
        isHeld = false
    }
}

/// A conversation over a channel on which the daemon knows the user.
private final class CallLine: ChannelInboundHandler, Worker {
    typealias InboundIn = ByteBuffer

    private let channel: any Channel
    private let holding: Holding
    private var conversation: ClientConversation
    private var lastNumber = 0
    private var waiting: [String: (CallReply) -> Void] = [:]
    /// Calls that have not been sent yet, each with its id.
    private var outgoing: CircularBuffer<[UInt8]> = []
    private let turns: Turns
    private var input = ByteBuffer()
    private let reading: Reading
    var isWaiting = false
    var peer: WebPeer { holding.peer }

    /// As many short replies take some hundredths of a millisecond.
    private static let pieceBytes = 2 << 10

    var isAlive: Bool { channel.isActive }
    var isIdle: Bool { waiting.isEmpty }

    init(_ channel: any Channel, _ holding: Holding, _ turns: Turns) throws {
        self.channel = channel
        reading = Reading(channel)
        self.holding = holding
        self.turns = turns
        // The depth was checked when the lines were made; their length is for the daemon to judge.
        var bounds = ClientConversation.Bounds()
        (bounds.depth, bounds.lineBytes) = (.max, .max)
        conversation = ClientConversation(bounds: bounds)
        try channel.pipeline.syncOperations.addHandler(self)
        conversation.connected()
    }

    func make(_ calls: [[UInt8]]) -> EventLoopFuture<[CallReply]> {
        let promise = channel.eventLoop.makePromise(of: [CallReply].self)
        let batch = Batch(count: calls.count, holding, promise)
        for (index, call) in calls.enumerated() {
            lastNumber += 1
            waiting["c\(lastNumber)"] = { batch.take($0, at: index) }
            outgoing.append(call + Array("c\(lastNumber)\"}\n".utf8))
        }
        turns.begin(self)
        if !channel.isActive { lose() }
        return promise.futureResult
    }

    private func sendNext() {
        outgoing.popFirst()?.withUnsafeBufferPointer { conversation.send(lines: $0) }
    }

    func close() { channel.close(promise: nil) }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        var bytes = unwrapInboundIn(data)
        if input.readableBytes == 0 { input = bytes } else { input.writeBuffer(&bytes) }
        turns.begin(self)
        reading.set(input.readableBytes == 0)
    }

    func work(until end: NIODeadline) -> Bool {
        while let piece = input.readSlice(length: min(input.readableBytes, Self.pieceBytes)), piece.readableBytes > 0 {
            take(piece)
            guard NIODeadline.now() < end else { break }
        }
        if input.readableBytes == 0 { input = ByteBuffer() }
        repeat { sendNext() } while !outgoing.isEmpty && NIODeadline.now() < end
        goOn()
        reading.set(input.readableBytes == 0)
        return input.readableBytes > 0 || !outgoing.isEmpty
    }

    private func take(_ bytes: ByteBuffer) {
        var replies: [(id: String, reply: CallReply)] = []
        bytes.withUnsafeReadableBytes { bytes in
            conversation.receive(bytes.assumingMemoryBound(to: UInt8.self)) { line in
                if let reply = CallReply.read(line) { replies.append(reply) }
            }
        }
        for (id, reply) in replies { waiting.removeValue(forKey: id)?(reply) }
    }

    func channelInactive(context: ChannelHandlerContext) { lose() }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

    private func lose() {
        // What came before still counts.
        take(input)
        input = ByteBuffer()
        while !outgoing.isEmpty { sendNext() }
        conversation.close("the daemon closed it")
        goOn()
    }

    private func goOn() {
        for event in conversation.takeEvents() {
            guard case .failed(let id, let failure) = event else { continue }
            waiting.removeValue(forKey: id.text)?(.failed(failure))
        }
        guard conversation.hasOutput else { return }
        channel.writeAndFlush(ByteBuffer(bytes: conversation.takeOutput()), promise: nil)
    }
}

/// The replies of calls that were made together.
private final class Batch {
    private var replies: [CallReply?]
    private var missing: Int
    private var counted = 0
    private let holding: Holding
    private let promise: EventLoopPromise<[CallReply]>

    init(count: Int, _ holding: Holding, _ promise: EventLoopPromise<[CallReply]>) {
        replies = Array(repeating: nil, count: count)
        missing = count
        self.holding = holding
        self.promise = promise
        if count == 0 { promise.succeed([]) }
    }

    func take(_ reply: CallReply, at index: Int) {
        replies[index] = kept(reply)
        missing -= 1
        guard missing == 0 else { return }
        // From here on they are counted as the answer.
        holding.add(-counted)
        promise.succeed(replies.compactMap(\.self))
    }

    private func kept(_ reply: CallReply) -> CallReply {
        guard reply.count > 0 else { return reply }
        guard holding.take(reply.count) else {
            let message = "the replies of \(holding.peer.words) that wait to be sent are too long; ask for less at once"
            return .failed(.overloaded(message))
        }
        counted += reply.count
        return reply
    }
}
