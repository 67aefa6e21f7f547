internal import NIOCore
internal import NIOHTTP1

/// One HTTP connection: handles requests one after the other, and becomes a WebSocket if one asks for it.
final class RequestHandler: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    private let site: Site
    private let clock: ConnectionClock
    private let http: HTTPHandlers
    private var head: HTTPRequestHead?
    private var body = ByteBuffer()
    private var bodyLimit = 0
    private var calls: CallConnection?
    private var context: ChannelHandlerContext?

    init(_ site: Site, _ clock: ConnectionClock, _ http: HTTPHandlers) {
        self.site = site
        self.http = http
        self.clock = clock
    }

    func handlerAdded(context: ChannelHandlerContext) { self.context = context }

    func handlerRemoved(context: ChannelHandlerContext) {
        self.context = nil
        calls?.close()
    }

    func channelInactive(context: ChannelHandlerContext) {
        calls?.close()
        calls = nil
        context.fireChannelInactive()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head): begin(head)
        case .body(var part): take(&part)
        case .end: finish(context)
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        // Not HTTP: NIO's handler has answered 400, if it could.
        context.close(promise: nil)
    }

    // MARK: A request

    private func begin(_ head: HTTPRequestHead) {
        self.head = head
        body = ByteBuffer()
        bodyLimit = site.bodyLimit(of: head)
        clock.bodyBegins()
        if head.headers[canonicalForm: "expect"].contains("100-continue"), let context {
            context.writeAndFlush(
                wrapOutboundOut(.head(HTTPResponseHead(version: .http1_1, status: .continue))),
                promise: nil
            )
        }
    }

    private func take(_ part: inout ByteBuffer) {
        guard head != nil else { return }
        guard body.readableBytes + part.readableBytes <= bodyLimit else {
            let message = "a request's body has up to \(bodyLimit) bytes here"
            return refuse(.error(.payloadTooLarge, "tooLarge", message))
        }
        body.writeBuffer(&part)
    }

    /// Answers before the request is complete, and closes the connection; further input is ignored.
    private func refuse(_ response: Response) {
        guard let context, let head else { return }
        self.head = nil
        write(response, to: head, host: nil, context, closes: true)
    }

    private func finish(_ context: ChannelHandlerContext) {
        guard let head else { return }
        self.head = nil
        clock.workBegins()
        do throws(Door.Refusal) {
            let request = try site.admit(head, body, from: context.channel)
            body = ByteBuffer()
            if site.isBridge(request) { return openBridge(request, context) }
            answer(request, context)
        } catch {
            write(Response(error), to: head, host: nil, context, closes: true)
        }
    }

    private func answer(_ request: WebRequest, _ context: ChannelHandlerContext) {
        let calls = self.calls ?? site.makeCallConnection()
        self.calls = calls
        site.answer(request, calls).assumeIsolated().whenComplete { [weak self] result in
            let response = (try? result.get()) ?? .error(.internalServerError, "internal", "the log says what failed")
            guard let self, let context = self.context else { return response.drop() }
            self.write(response, to: request.head, host: request.host, context, closes: false)
        }
    }

    // MARK: The answer

    private func write(
        _ response: Response,
        to head: HTTPRequestHead,
        host: String?,
        _ context: ChannelHandlerContext,
        closes: Bool
    ) {
        clock.answerBegins()
        // After a request for another protocol, NIO reads no further request.
        let isLast = closes || !head.isKeepAlive || head.headers.contains(name: "upgrade")
        context.write(wrapOutboundOut(.head(responseHead(response, head, host, isLast))), promise: nil)
        let isBare = head.method == .HEAD || response.status == .notModified
        switch response.body {
        case _ where isBare: response.drop()
        case .bytes(let buffer):
            if buffer.readableBytes > 0 { context.write(wrapOutboundOut(.body(.byteBuffer(buffer))), promise: nil) }
        case .file(let handle, let count):
            let region = FileRegion(fileHandle: handle, readerIndex: 0, endIndex: count)
            context.write(wrapOutboundOut(.body(.fileRegion(region)))).whenComplete { _ in try? handle.close() }
        }
        let clock = NIOLoopBound(clock, eventLoop: context.eventLoop)
        let channel = context.channel
        context.writeAndFlush(wrapOutboundOut(.end(nil))).whenComplete { _ in
            if isLast { channel.close(promise: nil) } else { clock.value.answerEnds() }
        }
    }

    private func responseHead(
        _ response: Response,
        _ request: HTTPRequestHead,
        _ host: String?,
        _ isLast: Bool
    ) -> HTTPResponseHead {
        var head = HTTPResponseHead(version: .http1_1, status: response.status, headers: response.headers)
        if response.status != .notModified { head.headers.add(name: "content-length", value: "\(response.count)") }
        site.security.add(to: &head.headers, host: host, isEncrypted: Door.isEncrypted(request))
        if isLast { head.headers.add(name: "connection", value: "close") }
        return head
    }

    // MARK: The WebSocket

    private func openBridge(_ request: WebRequest, _ context: ChannelHandlerContext) {
        let channel = context.channel
        site.openBridge(request, channel).assumeIsolated().whenComplete { [weak self] result in
            guard let self, let context = self.context else {
                if case .success(let opening) = result { opening.daemon.close(promise: nil) }
                return
            }
            switch result {
            case .failure(let refusal as Site.BridgeRefusal):
                self.write(refusal.response, to: request.head, host: request.host, context, closes: true)
            case .failure(let error):
                let response = Response.error(.internalServerError, "internal", "\(error)")
                self.write(response, to: request.head, host: request.host, context, closes: true)
            case .success(let opening): self.upgrade(opening, context)
            }
        }
    }

    /// Accepts the WebSocket, removes HTTP from the pipeline, and adds the page's connection. What the page has sent
    /// meanwhile is passed to it.
    private func upgrade(_ opening: Site.Opening, _ context: ChannelHandlerContext) {
        let head = HTTPResponseHead(version: .http1_1, status: .switchingProtocols, headers: opening.headers)
        let pipeline = context.pipeline.syncOperations
        let site = site
        let channel = context.channel
        context.writeAndFlush(wrapOutboundOut(.head(head)), promise: nil)
        do {
            let connection = try site.begin(opening, channel)
            for handler in [self, clock] + http.all { pipeline.removeHandler(handler, promise: nil) }
            connection.start()
        } catch {
            opening.daemon.close(promise: nil)
            channel.close(promise: nil)
        }
    }
}
