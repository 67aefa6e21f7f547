internal import NIOCore

/// Passes on the events of one of the two channels.
final class ConnectionSide: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let connection: PageConnection
    private let received: (ByteBuffer) -> Void
    private let gone: () -> Void

    init(_ connection: PageConnection, received: @escaping (ByteBuffer) -> Void, gone: @escaping () -> Void) {
        self.connection = connection
        self.received = received
        self.gone = gone
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) { received(unwrapInboundIn(data)) }
    func channelWritabilityChanged(context: ChannelHandlerContext) { connection.proceed() }
    func channelInactive(context: ChannelHandlerContext) { gone() }
    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
}

/// Whether a channel is read, so that its other end waits if it is not. For use on its event loop only.
final class Reading {
    private let channel: any Channel
    private var isOn = true

    init(_ channel: any Channel) { self.channel = channel }

    func set(_ reads: Bool) {
        guard reads != isOn else { return }
        isOn = reads
        channel.setOption(.autoRead, value: reads).whenComplete { _ in }
    }
}
