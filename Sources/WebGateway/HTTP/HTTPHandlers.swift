internal import NIOCore
internal import NIOHTTP1

/// NIO's handlers of HTTP in a pipeline, to be taken out again when a request becomes a WebSocket.
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

    /// The decoder last: it hands on what it has not read.
    var all: [any RemovableChannelHandler] { [errors, validator, pipelining, encoder, decoder] }
}
