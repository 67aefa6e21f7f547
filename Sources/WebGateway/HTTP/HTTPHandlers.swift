internal import NIOCore
internal import NIOHTTP1

/// NIO's HTTP handlers in a pipeline, to be removed when a connection becomes a WebSocket.
struct HTTPHandlers {
    private let encoder = HTTPResponseEncoder()
    private let decoder: ByteToMessageHandler<HTTPRequestDecoder>
    private let pipelining = HTTPServerPipelineHandler()
    private let validator = NIOHTTPResponseHeadersValidator()
    private let errors = HTTPServerProtocolErrorHandler()

    init() {
        var limits = NIOHTTPDecoderLimitConfiguration()
        limits.maxHeaderFieldSize = 16 << 10
        limits.maxHeaderListSize = 32 << 10
        limits.maxHeaderFieldCount = 100
        decoder = ByteToMessageHandler(
            HTTPRequestDecoder(leftOverBytesStrategy: .forwardBytes, limitConfiguration: limits)
        )
    }

    func add(to pipeline: ChannelPipeline.SynchronousOperations) throws {
        try pipeline.addHandlers([encoder, decoder, pipelining, validator, errors])
    }

    /// The decoder is last, because it passes on what it has not read.
    var all: [any RemovableChannelHandler] { [errors, validator, pipelining, encoder, decoder] }
}
