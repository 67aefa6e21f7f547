internal import NIOCore
internal import NIOHTTP1
internal import NIOWebSocket

/// The WebSocket of a page, or of a program.
extension Site {
    struct Opening {
        var daemon: any Channel
        var headers: HTTPHeaders
        var session: String
    }

    struct BridgeRefusal: Error {
        var response: Response
    }

    func isBridge(_ request: WebRequest) -> Bool { request.path == "/bridge" }

    /// Connects to the daemon for the logged-in user, before the socket is accepted, so that a page that cannot be
    /// served is told.
    func openBridge(_ request: WebRequest, _ channel: any Channel) -> EventLoopFuture<Opening> {
        let loop = dialer.loop
        guard Self.asksForWebSocket(request.head) else {
            var response = Response.error(.upgradeRequired, "badRequest", "this is a WebSocket, version 13")
            response.headers.add(name: "sec-websocket-version", value: "13")
            return loop.makeFailedFuture(BridgeRefusal(response: response))
        }
        let session: (key: String, identity: Identity)
        do throws(BridgeRefusal) { session = try bridgeIdentity(request) } catch { return loop.makeFailedFuture(error) }
        let dialer = dialer
        return Self.handshake(request.head, channel).assumeIsolated().flatMap { headers in
            dialer.connect(for: session.identity).map { daemon in
                Opening(daemon: daemon, headers: headers, session: session.key)
            }
        }.flatMapErrorThrowing { error in
            throw BridgeRefusal(response: try Self.refusal(error))
        }.nonisolated()
    }

    /// A page's session, or a program's token.
    private func bridgeIdentity(_ request: WebRequest) throws(BridgeRefusal) -> (key: String, identity: Identity) {
        guard let token = request.bearerToken else {
            guard let (key, identity, _) = identity(request) else { throw BridgeRefusal(response: Self.unauthorized) }
            return (key, identity)
        }
        do throws(Doorkeeper.Refusal) {
            let identity = try doorkeeper.identity(token: token, from: request.address)
            return (Sessions.key(ofProgramsOf: identity.name), identity)
        } catch {
            throw BridgeRefusal(response: refused(error, request))
        }
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
    func begin(_ opening: Opening, _ channel: any Channel) throws -> PageConnection {
        let connection = PageConnection(
            page: channel,
            daemon: opening.daemon,
            session: opening.session,
            longestMessage: Self.longestMessage
        )
        try connection.attach()
        bridges.add(connection)
        return connection
    }
}
