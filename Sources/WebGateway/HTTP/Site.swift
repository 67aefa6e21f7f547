internal import JSON
internal import NIOCore
internal import NIOHTTP1
internal import NIOWebSocket
internal import QuickConnect
internal import QuickConnectClient

/// What is answered to whom. Only on its event loop.
final class Site {
    let door: Door
    let security: SecurityHeaders
    let doorkeeper: Doorkeeper
    private let pages: Pages
    private let dialer: DaemonDialer
    private let bridges: Bridges
    /// What `GET /session` tells pages besides who they are.
    private let facts: JSONObject
    private let tell: (String) -> Void

    /// The longest line that the daemon takes by default, and one byte, so that it is the daemon that refuses.
    static let longestMessage = Limits().lineBytes + 1
    private static let smallBody = 16 << 10

    init(
        door: Door,
        security: SecurityHeaders,
        doorkeeper: Doorkeeper,
        pages: Pages,
        dialer: DaemonDialer,
        bridges: Bridges,
        facts: JSONObject,
        tell: @escaping (String) -> Void
    ) {
        self.door = door
        self.security = security
        self.doorkeeper = doorkeeper
        self.pages = pages
        self.dialer = dialer
        self.bridges = bridges
        self.facts = facts
        self.tell = tell
    }

    func makeCallConnection() -> CallConnection { CallConnection(dialer) }

    // MARK: The door

    /// Nobody fills the memory who has not shown a token.
    func bodyLimit(of head: HTTPRequestHead) -> Int {
        head.method == .POST && WebRequest.bearerToken(of: head) != nil ? Self.longestMessage : Self.smallBody
    }

    /// A request of a page of this gateway, or of a program.
    func admit(_ head: HTTPRequestHead, _ body: ByteBuffer, from channel: any Channel) throws(Door.Refusal)
        -> WebRequest
    {
        let host = try door.host(of: head)
        let isRead = head.method == .GET || head.method == .HEAD
        let request = WebRequest(head: head, body: body, host: host, address: Self.address(of: channel, head))
        // A browser names no origin where a person follows a link or opens a page; what changes anything it always names.
        if !isRead || isBridge(request) {
            try door.checkOrigin(of: head, host: host, mustHaveOrigin: isBridge(request) && request.bearerToken == nil)
        }
        return request
    }

    /// Whose tries are counted together. Behind a Unix socket is a proxy, which names its client last.
    private static func address(of channel: any Channel, _ head: HTTPRequestHead) -> String {
        if let address = channel.remoteAddress?.ipAddress { return address }
        let named = head.headers[canonicalForm: "x-forwarded-for"].last.map(String.init) ?? ""
        return String("proxy \(named)".prefix(100))
    }

    // MARK: Requests

    func answer(_ request: WebRequest, _ calls: CallConnection) -> EventLoopFuture<Response> {
        switch (request.path, request.head.method) {
        case ("/login", .POST): logIn(request)
        case ("/logout", .POST): logOut(request)
        case ("/session", .GET): now(session(request))
        case ("/call", .POST): call(request, calls)
        case ("/login", _), ("/logout", _), ("/call", _): now(Self.notAllowed("POST"))
        case ("/session", _): now(Self.notAllowed("GET"))
        case (_, .GET), (_, .HEAD): page(request)
        default: now(Self.notAllowed("GET, HEAD"))
        }
    }

    private func now(_ response: Response) -> EventLoopFuture<Response> { dialer.loop.makeSucceededFuture(response) }

    private static func notAllowed(_ methods: String) -> Response {
        var response = Response.error(.methodNotAllowed, "badRequest", "this takes \(methods)")
        response.headers.add(name: "allow", value: methods)
        return response
    }

    // MARK: Pages

    private func page(_ request: WebRequest) -> EventLoopFuture<Response> {
        guard let path = PagePath(request.head.uri) else {
            return now(.error(.notFound, "notFound", "there is no such page"))
        }
        guard path.isPublic || identity(request) != nil else { return now(Self.logInFirst(request, path)) }
        return pages.answer(path, request.head, on: dialer.loop)
    }

    /// A person is led to the log-in page, a program is told.
    private static func logInFirst(_ request: WebRequest, _ path: PagePath) -> Response {
        let isPerson = request.head.headers["accept"].contains { $0.contains("text/html") }
        guard isPerson else { return unauthorized }
        let next = path.file == "index.html" ? "" : "?next=\(Location.encode(path))"
        return Response(.seeOther, headers: ["location": "\(path.toRoot)login.html\(next)"])
    }

    private static var unauthorized: Response {
        var response = Response.error(
            .unauthorized,
            "denied",
            "nobody is logged in here: open the address that «quickconnect web open» prints, or log in with a token"
        )
        response.headers.add(name: "www-authenticate", value: "Bearer")
        return response
    }

    // MARK: Sessions

    private func identity(_ request: WebRequest) -> (key: String, identity: Identity, session: Sessions.Session)? {
        Cookie.value(request.cookieName, in: request.head.headers).flatMap { doorkeeper.identity(session: $0) }
    }

    private func session(_ request: WebRequest) -> Response {
        guard let (_, identity, session) = identity(request) else { return Self.unauthorized }
        var members = identity.json
        members["expires"] = .integer(session.expires)
        members.merge(facts)
        return .json(.object(members))
    }

    /// `{"code": …}` or `{"token": …}`. JSON, which no form of another site can send.
    private func logIn(_ request: WebRequest) -> EventLoopFuture<Response> {
        let type = request.head.headers["content-type"].first?.lowercased() ?? ""
        let body = (try? JSONParser.parse(String(buffer: request.body)))?.objectValue
        guard type.hasPrefix("application/json"), let body else {
            return now(.error(.badRequest, "badRequest", #"a log-in is JSON: {"token": "…"}, or {"code": "…"}"#))
        }
        let login: EventLoopFuture<(id: String, identity: Identity)>
        if let token = body["token"]?.stringValue {
            login = doorkeeper.logIn(token: token, from: request.address)
        } else if let code = body["code"]?.stringValue {
            login = doorkeeper.logIn(code: code, from: request.address)
        } else {
            return now(.error(.badRequest, "badRequest", "a log-in needs a «token» or a «code»"))
        }
        return login.assumeIsolated().map { id, identity in self.loggedIn(id, identity, request) }
            .flatMapErrorThrowing { self.refused($0, request) }.nonisolated()
    }

    private func loggedIn(_ id: String, _ identity: Identity, _ request: WebRequest) -> Response {
        tell("web:\(identity.name) logged in from \(request.address)")
        var response = Response.json(.object(identity.json))
        let seconds = doorkeeper.sessionSeconds
        let cookie = Cookie.set(request.cookieName, id, seconds: seconds, isEncrypted: request.isEncrypted)
        response.headers.add(name: "set-cookie", value: cookie)
        response.headers.add(name: "cache-control", value: "no-store")
        return response
    }

    private func refused(_ error: any Error, _ request: WebRequest) -> Response {
        switch error as? Doorkeeper.Refusal {
        case .unknown:
            tell("a log-in from \(request.address) was refused")
            let message = "that token or code lets nobody in; a code works once, within two minutes"
            return .error(.unauthorized, "denied", message)
        case .wait(let pause):
            let seconds = max(1, pause.components.seconds)
            var response = Response.error(.tooManyRequests, "overloaded", "too many tries; wait \(seconds) seconds")
            response.headers.add(name: "retry-after", value: "\(seconds)")
            return response
        case .notKept(let problem):
            tell("a session cannot be kept: \(problem)")
            return .error(.insufficientStorage, "unavailable", "the session cannot be kept; the log says why")
        case nil: return .error(.internalServerError, "internal", "\(error)")
        }
    }

    private func logOut(_ request: WebRequest) -> EventLoopFuture<Response> {
        guard let (key, identity, _) = identity(request) else { return now(Self.unauthorized) }
        tell("web:\(identity.name) logged out")
        let cookie = Cookie.set(request.cookieName, "", seconds: 0, isEncrypted: request.isEncrypted)
        let response = Response(.noContent, headers: ["set-cookie": cookie])
        // Out in any case, kept or not.
        return doorkeeper.logOut(key).map { response }.recover { _ in response }
    }

    // MARK: Calls

    private func call(_ request: WebRequest, _ calls: CallConnection) -> EventLoopFuture<Response> {
        guard let token = request.bearerToken else { return now(Self.unauthorized) }
        let identity: Identity
        do throws(Doorkeeper.Refusal) {
            identity = try doorkeeper.identity(token: token, from: request.address)
        } catch {
            return now(refused(error, request))
        }
        let lines = CallLines.lines(request.body)
        if request.query.isEmpty { return many(lines, calls, identity) }
        guard lines.isEmpty else {
            return now(.error(.badRequest, "badRequest", "a call stands in the address or in the body, not in both"))
        }
        return one(Array("call?\(request.query)".utf8), calls, identity)
    }

    private func one(_ line: [UInt8], _ calls: CallConnection, _ identity: Identity) -> EventLoopFuture<Response> {
        var reader = MessageReader()
        let call: CallLines.Call
        switch CallLines.read(line, with: &reader) {
        case .success(let read): call = read
        case .failure(let problem):
            return now(.json(problem.error.payload(command: problem.command), CallLines.status(problem.code.rawValue)))
        }
        return calls.make([call], for: identity).map { replies in
            switch replies.first {
            case .success(let value)?: .json(value)
            case .failure(let failure)?:
                .json(CallLines.json(failure, command: call.command), CallLines.status(failure.code))
            case nil: .error(.internalServerError, "internal", "no reply")
            }
        }.flatMapErrorThrowing { try Self.refusal($0) }
    }

    /// A line of the answer for each of the body's, in their order.
    private func many(_ lines: [[UInt8]], _ calls: CallConnection, _ identity: Identity) -> EventLoopFuture<Response> {
        guard !lines.isEmpty else {
            let message = "a call stands in the address, /call?cmd=…&msg=…, or in lines of the body"
            return now(.error(.badRequest, "badRequest", message))
        }
        var reader = MessageReader()
        let read = lines.map { CallLines.read($0, with: &reader) }
        let good = read.compactMap { try? $0.get() }
        return calls.make(good, for: identity).map { replies in
            var replies = replies[...]
            let lines = read.map { line in
                switch line {
                case .failure(let problem): JSONValue.object(["error": problem.error.payload(command: problem.command)])
                case .success(let call): Self.line(replies.popFirst(), call.command)
                }
            }
            return .lines(lines.map(\.text), type: "application/x-ndjson")
        }.flatMapErrorThrowing { try Self.refusal($0) }
    }

    private static func line(_ reply: CallConnection.Reply?, _ command: String) -> JSONValue {
        switch reply {
        case .success(let value)?: ["responseData": value]
        case .failure(let failure)?: ["error": CallLines.json(failure, command: command)]
        case nil: ["error": ["code": "internal", "message": "no reply"]]
        }
    }

    private static func refusal(_ error: any Error) throws -> Response {
        guard let refusal = error as? DaemonRefusal else { throw error }
        var response = Response.error(CallLines.status(refusal.code), refusal.code, refusal.message)
        if response.status == .serviceUnavailable { response.headers.add(name: "retry-after", value: "1") }
        return response
    }

    // MARK: The WebSocket

    struct Opening {
        var daemon: any Channel
        var headers: HTTPHeaders
        var session: String
    }

    struct BridgeRefusal: Error {
        var response: Response
    }

    func isBridge(_ request: WebRequest) -> Bool { request.path == "/bridge" }

    /// Connects to the daemon for whoever is logged in: a page that cannot be served is told so before it has a socket.
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
            return (Bridges.key(ofUser: identity.name), identity)
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

    /// The headers of the answer 101. NIO knows SHA-1.
    private static func handshake(_ head: HTTPRequestHead, _ channel: any Channel) -> EventLoopFuture<HTTPHeaders> {
        let upgrader = NIOWebSocketServerUpgrader(
            shouldUpgrade: { channel, _ in channel.eventLoop.makeSucceededFuture([:]) },
            upgradePipelineHandler: { channel, _ in channel.eventLoop.makeSucceededVoidFuture() }
        )
        return upgrader.buildUpgradeResponse(channel: channel, upgradeRequest: head, initialResponseHeaders: [:])
    }

    /// The page and the daemon are one connection from now on.
    func begin(_ opening: Opening, _ channel: any Channel) throws -> PageConnection {
        let connection = PageConnection(
            page: channel,
            daemon: opening.daemon,
            session: opening.session,
            longestMessage: Self.longestMessage
        )
        bridges.add(connection)
        try connection.start()
        return connection
    }
}
