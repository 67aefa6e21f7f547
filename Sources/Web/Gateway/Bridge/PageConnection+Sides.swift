internal import NIOCore

/// Passes on the events of a page's channel.
final class PageSide: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let connection: PageConnection

    init(_ connection: PageConnection) { self.connection = connection }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        connection.receive(fromPage: unwrapInboundIn(data))
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) { connection.mayBeWritten() }

    func channelInactive(context: ChannelHandlerContext) { connection.pageIsGone() }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
}

/// Passes on the events of the daemon's channel.
final class DaemonSide: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let connection: PageConnection

    init(_ connection: PageConnection) { self.connection = connection }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        connection.receive(fromDaemon: unwrapInboundIn(data))
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) { connection.mayBeWritten() }

    func channelInactive(context: ChannelHandlerContext) { connection.daemonIsGone() }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
}
