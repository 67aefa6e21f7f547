import Glibc
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOWebSocket
import WebGateway

/// A WebSocket echo on the gateway's own frames, for suites that test servers. Prints its port.
///
/// It differs from the gateway's connection with a page in what it does with a message, and in two values: messages may be
/// binary, and as long as the suite's longest.
@main
struct FrameEcho {
    static func main() throws {
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let server = try ServerBootstrap(group: group)
            .childChannelOption(.socketOption(.tcp_nodelay), value: 1)
            .childChannelInitializer { channel in
                channel.pipeline.configureHTTPServerPipeline(
                    withServerUpgrade: (upgraders: [Upgrader()], completionHandler: { _ in })
                )
            }
            .bind(host: "127.0.0.1", port: 0).wait()
        print(server.localAddress?.port ?? 0)
        fflush(nil)
        try server.closeFuture.wait()
    }
}

/// NIO's handshake without NIO's frames.
private struct Upgrader: HTTPServerProtocolUpgrader {
    private let handshake = NIOWebSocketServerUpgrader(
        shouldUpgrade: { channel, _ in channel.eventLoop.makeSucceededFuture([:]) },
        upgradePipelineHandler: { channel, _ in channel.eventLoop.makeSucceededVoidFuture() }
    )

    var supportedProtocol: String { handshake.supportedProtocol }
    var requiredUpgradeHeaders: [String] { handshake.requiredUpgradeHeaders }

    func buildUpgradeResponse(
        channel: any Channel,
        upgradeRequest: HTTPRequestHead,
        initialResponseHeaders: HTTPHeaders
    ) -> EventLoopFuture<HTTPHeaders> {
        handshake.buildUpgradeResponse(
            channel: channel,
            upgradeRequest: upgradeRequest,
            initialResponseHeaders: initialResponseHeaders
        )
    }

    func upgrade(context: ChannelHandlerContext, upgradeRequest: HTTPRequestHead) -> EventLoopFuture<Void> {
        context.eventLoop.makeCompletedFuture { try context.pipeline.syncOperations.addHandler(Echo()) }
    }
}

private final class Echo: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    /// The suite's longest message has 16 MiB.
    private var reader = FrameReader(limit: 64 << 20, takesBinary: true)

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard reader.end == nil else { return }
        var frames: [UInt8] = []
        unwrapInboundIn(data).withUnsafeReadableBytes { bytes in
            var rest = bytes[...]
            repeat {
                let message = reader.readMessage(&rest)
                frames += reader.takeAnswers()
                message?.payload.withUnsafeBytes { [kind = message?.kind ?? .text] in
                    FrameWriter.append(kind, $0, to: &frames)
                }
            } while !rest.isEmpty && reader.end == nil
        }
        if !frames.isEmpty { context.write(wrapOutboundOut(ByteBuffer(bytes: frames)), promise: nil) }
        if let end = reader.end { close(end, context) }
    }

    func channelReadComplete(context: ChannelHandlerContext) { context.flush() }

    /// As the gateway does: it closes after the page's close frame, and waits for the page to close after its own.
    private func close(_ end: FrameReader.End, _ context: ChannelHandlerContext) {
        let channel = context.channel
        let (frame, isAnswer) =
            switch end {
            case .closed(let code): (FrameWriter.close(code), true)
            case .failed(let code, let reason): (FrameWriter.close(code, reason), false)
            }
        channel.writeAndFlush(ByteBuffer(bytes: frame)).whenComplete { _ in
            if isAnswer { channel.close(promise: nil) } else { channel.close(mode: .output, promise: nil) }
        }
    }
}
