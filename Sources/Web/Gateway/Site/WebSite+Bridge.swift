internal import NIOCore
internal import NIOHTTP1
internal import NIOWebSocket

/// The WebSocket of a page, or of a program.
extension WebSite {
    struct Opening {
        var daemon: any Channel
        var headers: HTTPHeaders
        var session: String
        /// Whether the page's script answers `{"lease":true}`.
        var answers: Bool
    }

    struct BridgeRefusal: Error {
        var response: Response
    }

    /// Connects to the daemon for the logged-in user, before the socket is accepted, so that a page that cannot be
    /// served is told.
    func openBridge(_ request: WebRequest, _ channel: any Channel) -> EventLoopFuture<Opening> {
        let loop = dialer.loop
        guard Self.asksForWebSocket(request.head) else {
            let response = Response.error(.upgradeRequired, "badRequest", "this is a WebSocket, version 13")
                .with("sec-websocket-version", "13")
            return loop.makeFailedFuture(BridgeRefusal(response: response))
        }
        guard let user = request.sender.user else {
            return loop.makeFailedFuture(BridgeRefusal(response: Self.unauthorized))
        }
        let dialer = dialer
        return Self.handshake(request.head, channel).assumeIsolated().flatMap { headers in
            dialer.connect(for: user.identity, session: user.session).assumeIsolated().flatMapThrowing { daemon in
                guard self.isStillIn(request.sender) else {
                    daemon.close(promise: nil)
                    throw BridgeRefusal(response: Self.unauthorized)
                }
                return Opening(
                    daemon: daemon,
                    headers: headers,
                    session: user.session,
                    answers: request.query == "answers"
                )
            }.nonisolated()
        }.flatMapErrorThrowing { error in
            throw try error as? BridgeRefusal ?? BridgeRefusal(response: Response.refusal(error))
        }.nonisolated()
    }

    private static func asksForWebSocket(_ head: HTTPRequestHead) -> Bool {
        let headers = head.headers
        return head.method == .GET && headers["sec-websocket-key"].first?.utf8.count == 24
            && headers["sec-websocket-key"].count == 1 && headers["sec-websocket-version"] == ["13"]
            && headers[canonicalForm: "upgrade"].contains { $0.lowercased() == "websocket" }
            && headers[canonicalForm: "connection"].contains { $0.lowercased() == "upgrade" }
    }

    /// The headers of the answer 101. NIO provides SHA-1.
    private static func handshake(_ head: HTTPRequestHead, _ channel: any Channel) -> EventLoopFuture<HTTPHeaders> {
        let upgrader = NIOWebSocketServerUpgrader(
            shouldUpgrade: { channel, _ in channel.eventLoop.makeSucceededFuture([:]) },
            upgradePipelineHandler: { channel, _ in channel.eventLoop.makeSucceededVoidFuture() }
        )
        return upgrader.buildUpgradeResponse(channel: channel, upgradeRequest: head, initialResponseHeaders: [:])
    }

    /// Connects the page and the daemon, once HTTP is out of the page's pipeline.
    func begin(_ opening: Opening, _ channel: any Channel, _ holding: Holding) throws -> PageConnection {
        let connection = PageConnection(
            page: channel,
            daemon: opening.daemon,
            session: opening.session,
            answers: opening.answers,
            maxMessage: maxMessage,
            fair,
            holding
        )
        try connection.attach()
        bridges.add(connection)
        return connection
    }
}
