internal import NIOCore

/// The deadlines of an HTTP connection: for a request from its first byte on, for taking the answer, and for the next
/// request. NIO's HTTP handlers have none.
final class ConnectionClock: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer

    private enum State { case resting, receiving, working, sending }

    private var state = State.resting
    private var deadline: Scheduled<Void>?
    private var context: ChannelHandlerContext?

    /// For the whole head. A client that sends it slowly gets no more time.
    private static let headTime = TimeAmount.seconds(10)
    private static let bodyTime = TimeAmount.seconds(60)
    private static let restTime = TimeAmount.seconds(60)
    private static let sendTime = TimeAmount.seconds(300)

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        if context.channel.isActive { set(Self.headTime) }
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        deadline?.cancel()
        self.context = nil
    }

    func channelActive(context: ChannelHandlerContext) {
        set(Self.headTime)
        context.fireChannelActive()
    }

    func channelInactive(context: ChannelHandlerContext) {
        deadline?.cancel()
        context.fireChannelInactive()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if state == .resting {
            state = .receiving
            set(Self.headTime)
        }
        context.fireChannelRead(data)
    }

    /// The head is complete; its body follows.
    func bodyBegins() { set(Self.bodyTime) }

    /// The request is complete. The client does not control how long its answer takes, so there is no deadline.
    func workBegins() {
        state = .working
        deadline?.cancel()
    }

    func answerBegins() {
        state = .sending
        set(Self.sendTime)
    }

    func answerEnds() {
        state = .resting
        set(Self.restTime)
    }

    private func set(_ time: TimeAmount) {
        deadline?.cancel()
        guard let channel = context?.channel else { return }
        deadline = channel.eventLoop.scheduleTask(in: time) { channel.close(promise: nil) }
    }
}
