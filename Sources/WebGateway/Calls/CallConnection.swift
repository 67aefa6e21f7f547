internal import JSON
internal import NIOCore
internal import QuickConnect
internal import QuickConnectClient

/// The connection to the daemon for one HTTP connection that makes calls. For use on its event loop only.
///
/// It is made for the first call, and again if the user changes or the daemon was away meanwhile.
final class CallConnection {
    typealias Reply = Result<JSONValue, CallFailure>

    private let dialer: DaemonDialer
    private var line: CallLine?
    private var identity: Identity?
    private var isClosed = false

    init(_ dialer: DaemonDialer) { self.dialer = dialer }

    /// Makes calls.
    /// - Returns: their replies in the same order, or a ``DaemonRefusal``.
    func make(_ calls: [(command: String, message: CallMessage)], for identity: Identity) -> EventLoopFuture<[Reply]> {
        if let line, line.isAlive, self.identity == identity { return line.make(calls) }
        line?.close()
        line = nil
        return dialer.connect(for: identity).assumeIsolated().flatMapThrowing { channel in
            let line = try CallLine(channel)
            guard !self.isClosed else {
                line.close()
                throw DaemonRefusal.away("the caller is gone")
            }
            (self.line, self.identity) = (line, identity)
            return line
        }.flatMap { (line: CallLine) in line.make(calls) }.nonisolated()
    }

    func close() {
        isClosed = true
        line?.close()
        line = nil
    }
}

/// A conversation over a channel on which the daemon knows the user.
private final class CallLine: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let channel: any Channel
    private var conversation = ClientConversation()
    private var waiting: [CallID: (CallConnection.Reply) -> Void] = [:]

    var isAlive: Bool { channel.isActive }

    init(_ channel: any Channel) throws {
        self.channel = channel
        try channel.pipeline.syncOperations.addHandler(self)
        conversation.connected()
    }

    func make(_ calls: [(command: String, message: CallMessage)]) -> EventLoopFuture<[CallConnection.Reply]> {
        let promise = channel.eventLoop.makePromise(of: [CallConnection.Reply].self)
        let batch = Batch(count: calls.count, promise)
        for (index, call) in calls.enumerated() {
            waiting[conversation.call(call.command, call.message)] = { batch.take($0, at: index) }
        }
        goOn()
        if !channel.isActive { lose() }
        return promise.futureResult
    }

    func close() { channel.close(promise: nil) }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        unwrapInboundIn(data).withUnsafeReadableBytes {
            conversation.receive($0.assumingMemoryBound(to: UInt8.self))
        }
        goOn()
    }

    func channelInactive(context: ChannelHandlerContext) { lose() }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

    private func lose() {
        conversation.close("the daemon closed it")
        goOn()
    }

    private func goOn() {
        for event in conversation.takeEvents() {
            switch event {
            case .replied(let id, _, let value): waiting.removeValue(forKey: id)?(.success(value))
            case .failed(let id, let failure): waiting.removeValue(forKey: id)?(.failure(failure))
            default: break
            }
        }
        guard conversation.hasOutput else { return }
        channel.writeAndFlush(ByteBuffer(bytes: conversation.takeOutput()), promise: nil)
    }
}

/// The replies of calls that were made together.
private final class Batch {
    private var replies: [CallConnection.Reply?]
    private var missing: Int
    private let promise: EventLoopPromise<[CallConnection.Reply]>

    init(count: Int, _ promise: EventLoopPromise<[CallConnection.Reply]>) {
        replies = Array(repeating: nil, count: count)
        missing = count
        self.promise = promise
        if count == 0 { promise.succeed([]) }
    }

    func take(_ reply: CallConnection.Reply, at index: Int) {
        replies[index] = reply
        missing -= 1
        if missing == 0 { promise.succeed(replies.compactMap(\.self)) }
    }
}
