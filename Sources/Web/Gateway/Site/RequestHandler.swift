internal import NIOCore
internal import NIOHTTP1

/// One HTTP connection: decides on the head of a request, answers it, and only then lets the next one come. It becomes
/// a WebSocket if a request asks for it.
final class RequestHandler: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    enum State {
        case waiting
        /// Its head was accepted. With an answer, that is what it gets when it is complete.
        case receiving(WebRequest, Response?)
        /// Its body is written as it comes.
        case uploading(WebRequest, MediaUpload)
        case answering
        /// The connection ends.
        case over
    }

    let site: WebSite
    let slot: ConnectionSlot
    let gate: RequestGate
    let clock: ConnectionClock
    private let http: HTTPHandlers
    /// Has its connection count for another peer from now on; false if that one has too many.
    private let count: (WebPeer) -> Bool
    var state = State.waiting { didSet { noteIdle() } }
    private var body = ByteBuffer()
    private var bodyLimit = 0
    /// What the last piece of a chunked body had after its end.
    private var parts: [HTTPServerRequestPart] = []
    private var hasFailed = false
    private var calls: DaemonCalls?
    var context: ChannelHandlerContext?

    init(
        _ site: WebSite,
        _ slot: ConnectionSlot,
        _ gate: RequestGate,
        _ clock: ConnectionClock,
        _ http: HTTPHandlers,
        count: @escaping (WebPeer) -> Bool
    ) {
        self.count = count
        self.site = site
        self.slot = slot
        self.gate = gate
        self.http = http
        self.clock = clock
        gate.replay = { [weak self] in self?.replay() ?? false }
    }

    func handlerAdded(context: ChannelHandlerContext) { self.context = context }

    func handlerRemoved(context: ChannelHandlerContext) {
        self.context = nil
        dropBody()
        calls?.close()
    }

    func channelInactive(context: ChannelHandlerContext) {
        dropBody()
        calls?.close()
        calls = nil
        clock.stop()
        context.fireChannelInactive()
    }

    /// An idle connection may be closed for another one of its peer.
    private func noteIdle() {
        switch state {
        case .waiting, .over: slot.isIdle = true
        case .receiving, .uploading, .answering: slot.isIdle = false
        }
    }

    // MARK: Input

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        accept(unwrapInboundIn(data), context)
    }

    private func accept(_ part: HTTPServerRequestPart, _ context: ChannelHandlerContext) {
        switch state {
        case .over: break
        case .answering: parts.append(part)
        case .uploading(_, let upload) where upload.hasAll: parts.append(part)
        case .waiting, .receiving, .uploading: take(part, context)
        }
    }

    private func take(_ part: HTTPServerRequestPart, _ context: ChannelHandlerContext) {
        switch (part, state) {
        case (.head(let head), _): begin(head, context)
        case (.body(var part), .receiving): add(&part)
        case (.end, .receiving(let request, let response)): finish(request, response, context)
        case (.body(let part), .uploading(_, let upload)): add(part, to: upload, context)
        case (.end, .uploading(_, let upload)): end(upload, context)
        default: break
        }
    }

    private func replay() -> Bool {
        guard let context, !parts.isEmpty else { return false }
        let waiting = parts
        parts = []
        for part in waiting { accept(part, context) }
        return true
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        switch error {
        case is RequestGate.NoShare: refuseHead(.overloaded("\(slot.peer.words) has too much under way"), context)
        case HTTPParserError.headerOverflow:
            let (bytes, lines) = (HTTPHandlers.headBytes, HTTPHandlers.headLines)
            let message = "the head of a request has up to \(bytes) bytes and \(lines) lines here"
            refuseHead(.error(.requestHeaderFieldsTooLarge, "tooLarge", message), context)
        case HTTPParserError.invalidVersion:
            refuseHead(.error(.httpVersionNotSupported, "badRequest", "send it as HTTP/1.1, or as HTTP/1.0"), context)
        case is HTTPParserError, is NIOHTTPDecoderError, is ByteToMessageDecoderError:
            refuseHead(.error(.badRequest, "badRequest", "this is not a valid HTTP request"), context)
        default: context.close(promise: nil)
        }
    }

    /// Answers what is no request, or not yet.
    private func refuseHead(_ response: Response, _ context: ChannelHandlerContext) {
        guard !hasFailed else { return }
        hasFailed = true
        switch state {
        case .answering, .over: break
        case .waiting, .receiving, .uploading:
            refuse(response, to: HTTPRequestHead(version: .http1_1, method: .GET, uri: "/"), nil, context)
        }
    }

    // MARK: A request

    /// Decides on the head, before a byte of the body is kept.
    private func begin(_ received: HTTPRequestHead, _ context: ChannelHandlerContext) {
        let head = received.plain
        do throws(RequestFilter.Refusal) {
            let request = try site.admit(head, from: context.channel)
            let refusal = refusal(of: request)
            let count = head.bodyCount
            if let refusal, count != 0 { return refuse(refusal, to: head, request.host, context) }
            if refusal == nil, request.isUpload { return beginUpload(request, context) }
            state = .receiving(request, refusal)
            gate.wants = .body(left: count)
            clock.begin(.body, context.channel)
            guard count != 0, head.asksToContinue else { return }
            sendContinue(context)
        } catch {
            refuse(Response(error), to: head, nil, context)
        }
    }

    private func refusal(of request: WebRequest) -> Response? {
        slot.holding.peer = request.peer
        bodyLimit = site.bodyLimit(of: request)
        guard count(request.peer) else { return .overloaded("\(request.peer.words) has too many connections") }
        if let refusal = site.refusal(of: request) { return refusal }
        if !request.isUpload, let count = request.head.bodyCount, count > bodyLimit { return tooLarge }
        return slot.holding.isUsedUp ? .overloaded("\(request.peer.words) has too much under way") : nil
    }

    private var tooLarge: Response {
        .error(.payloadTooLarge, "tooLarge", "a request's body has up to \(bodyLimit) bytes here")
    }

    private func add(_ part: inout ByteBuffer) {
        guard case .receiving(let request, _) = state, let context else { return }
        guard body.readableBytes + part.readableBytes <= bodyLimit else {
            return refuse(tooLarge, to: request.head, request.host, context)
        }
        guard slot.holding.take(part.readableBytes) else {
            let response = Response.overloaded("\(request.peer.words) has too much under way")
            return refuse(response, to: request.head, request.host, context)
        }
        body.writeBuffer(&part)
    }

    private func dropBody() {
        if case .uploading(_, let upload) = state { upload.stop() }
        slot.holding.add(-body.readableBytes)
        body = ByteBuffer()
    }

    /// Answers before the request is complete, and closes the connection; further input is dropped.
    func refuse(
        _ response: Response,
        to head: HTTPRequestHead,
        _ host: String?,
        _ context: ChannelHandlerContext
    ) {
        dropBody()
        state = .answering
        gate.wants = .nothing
        write(response, to: head, host: host, context, closes: true)
    }

    private func finish(_ request: WebRequest, _ response: Response?, _ context: ChannelHandlerContext) {
        state = .answering
        gate.wants = .nothing
        clock.begin(.work, context.channel)
        if let response {
            return write(response, to: request.head, host: request.host, context, closes: false)
        }
        var request = request
        request.body = body
        if request.isBridge {
            // Only those that are refused have one, and a page may stay for days.
            dropBody()
            return openBridge(request, context)
        }
        answer(request, context)
    }

    private func answer(_ request: WebRequest, _ context: ChannelHandlerContext) {
        site.answer(request, callConnection).assumeIsolated().whenComplete { [weak self] result in
            let response = (try? result.get()) ?? .error(.internalServerError, "internal", "the log says what failed")
            guard let self, let context = self.context else { return response.drop() }
            self.dropBody()
            self.write(response.matching(request.head), to: request.head, host: request.host, context, closes: false)
        }
    }

    var callConnection: DaemonCalls {
        let calls = self.calls ?? site.makeCallConnection(slot.holding)
        self.calls = calls
        return calls
    }

    func sendContinue(_ context: ChannelHandlerContext) {
        let part = HTTPServerResponsePart.head(HTTPResponseHead(version: .http1_1, status: .continue))
        context.writeAndFlush(wrapOutboundOut(part), promise: nil)
    }

    // MARK: The answer

    func write(
        _ response: Response,
        to head: HTTPRequestHead,
        host: String?,
        _ context: ChannelHandlerContext,
        closes: Bool
    ) {
        clock.begin(.answer, context.channel)
        let isLast = closes || hasFailed || head.isLastOfConnection
        let part = HTTPServerResponsePart.head(site.responseHead(response, to: head, host: host, isLast: isLast))
        context.write(wrapOutboundOut(part), promise: nil)
        let isBare = head.method == .HEAD || response.status == .notModified
        var kept = 0
        switch response.body {
        case _ where isBare: response.drop()
        case .bytes(let buffer):
            kept = buffer.readableBytes
            slot.holding.add(kept)
            if kept > 0 { context.write(wrapOutboundOut(.body(.byteBuffer(buffer))), promise: nil) }
        case .file(let handle, let part):
            let region = FileRegion(fileHandle: handle, readerIndex: part.lowerBound, endIndex: part.upperBound)
            context.write(wrapOutboundOut(.body(.fileRegion(region)))).whenComplete { _ in try? handle.close() }
        case .stream(let stream, _):
            context.flush()
            return send(stream.value, isLast: isLast)
        }
        finishAnswer(context, kept: kept, isLast: isLast)
    }

    func finishAnswer(_ context: ChannelHandlerContext, kept: Int, isLast: Bool) {
        context.writeAndFlush(wrapOutboundOut(.end(nil))).assumeIsolated().whenComplete { [self, kept] _ in
            slot.holding.add(-kept)
            sent(isLast: isLast)
        }
    }

    /// The answer is with the kernel: the next request may come, or none.
    private func sent(isLast: Bool) {
        guard let context else { return }
        let channel = context.channel
        guard isLast || hasFailed else {
            state = .waiting
            return gate.nextRequest()
        }
        state = .over
        // Who still sends would lose the answer if the connection were closed at once.
        clock.begin(.end, channel)
        channel.close(mode: .output, promise: nil)
        gate.drop()
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
            case .failure(let error):
                let refusal = (error as? WebSite.BridgeRefusal)?.response
                let response = refusal ?? .error(.internalServerError, "internal", "\(error)")
                self.write(response, to: request.head, host: request.host, context, closes: true)
            case .success(let opening): self.upgrade(opening, context)
            }
        }
    }

    /// Accepts the WebSocket, removes HTTP from the pipeline, and adds the page's connection. What the page has sent
    /// meanwhile is passed to it.
    private func upgrade(_ opening: WebSite.Opening, _ context: ChannelHandlerContext) {
        let head = HTTPResponseHead(version: .http1_1, status: .switchingProtocols, headers: opening.headers)
        let pipeline = context.pipeline.syncOperations
        let channel = context.channel
        context.writeAndFlush(wrapOutboundOut(.head(head)), promise: nil)
        do {
            let connection = try site.begin(opening, channel, slot.holding)
            let rest = gate.takeRest()
            for handler in [self, gate] + http.all { pipeline.removeHandler(handler, promise: nil) }
            connection.start(rest)
            // The gate held it back.
            channel.read()
        } catch {
            opening.daemon.close(promise: nil)
            channel.close(promise: nil)
        }
    }
}
