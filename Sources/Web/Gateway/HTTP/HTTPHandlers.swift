internal import NIOCore
internal import NIOHTTP1

/// NIO's HTTP handlers in a pipeline, to be removed when a connection becomes a WebSocket.
///
/// Without NIO's handlers for pipelining and for what is not HTTP: ``RequestGate`` passes on one request at a time, and
/// ``RequestHandler`` answers both.
struct HTTPHandlers {
    private let encoder = HTTPResponseEncoder()
    private let decoder: ByteToMessageHandler<HTTPRequestDecoder>
    private let validator = NIOHTTPResponseHeadersValidator()

    /// The longest head, and the most lines of one.
    static let (headBytes, headLines) = (32 << 10, 100)

    init() {
        var limits = NIOHTTPDecoderLimitConfiguration()
        limits.maxHeaderFieldSize = Self.headBytes
        limits.maxHeaderListSize = Self.headBytes
        limits.maxHeaderFieldCount = Self.headLines
        decoder = ByteToMessageHandler(
            HTTPRequestDecoder(leftOverBytesStrategy: .forwardBytes, limitConfiguration: limits)
        )
    }

    func add(to pipeline: ChannelPipeline.SynchronousOperations) throws {
        try pipeline.addHandlers([encoder, decoder, validator])
    }

    /// The decoder is last, because it passes on what it has not read.
    var all: [any RemovableChannelHandler] { [validator, encoder, decoder] }
}
