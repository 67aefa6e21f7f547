internal import JSON
internal import Linux
internal import NIOCore
internal import NIOHTTP1
internal import QuickConnect

/// Decides how requests are answered. For use on its event loop only.
final class WebSite {
    let door: RequestFilter
    let security: SecurityHeaders
    let doorkeeper: Authenticator
    let pages: Pages
    let dialer: DaemonDialer
    let bridges: Bridges
    let fair: Fairly
    /// What `GET /session` tells pages in addition to the user.
    let facts: JSONObject
    let log: (String) -> Void
    /// How many files each user is writing.
    var uploads: [WebPeer: Int] = [:]

    /// One byte more than the longest line that the daemon takes, so that the daemon refuses it. Not less than by default, since
    /// a body has several lines.
    let maxMessage: Int
    private static let smallBody = 16 << 10

    init(
        _ options: WebOptions,
        doorkeeper: Authenticator,
        dialer: DaemonDialer,
        bridges: Bridges,
        fair: Fairly,
        log: @escaping (String) -> Void
    ) {
        door = RequestFilter(names: options.names)
        security = SecurityHeaders(allowsInline: options.allowsInline, tileOrigin: options.tileOrigin)
        maxMessage = max(options.lineBytes, Limits().lineBytes) + 1
        pages = Pages(options.pages, libraries: options.libraries)
        let flags = [("watch", JSONValue.bool(options.watches)), ("refusals", .bool(options.showsRefusals))]
        facts = JSONObject(flags + (options.tiles.map { [("tiles", .string($0))] } ?? []))
        self.doorkeeper = doorkeeper
        self.dialer = dialer
        self.bridges = bridges
        self.fair = fair
        self.log = log
    }

    func makeCallConnection(_ holding: Holding) -> DaemonCalls {
        DaemonCalls(dialer, holding, fair) { [weak self] sender in self?.isStillIn(sender) == true }
    }

    // MARK: The door

    /// Without a valid token, nobody can make the gateway hold a large body.
    func bodyLimit(of request: WebRequest) -> Int {
        guard request.isCall, request.identity != nil else { return Self.smallBody }
        return maxMessage
    }

    /// Accepts the head of a request of a page of this gateway, or of a program.
    func admit(_ head: HTTPRequestHead, from channel: any Channel) throws(RequestFilter.Refusal) -> WebRequest {
        let host = try door.host(of: head)
        guard head.headers[canonicalForm: "transfer-encoding"].allSatisfy({ $0.lowercased() == "chunked" }) else {
            throw RequestFilter.Refusal(
                status: .notImplemented,
                code: "badRequest",
                message: "send the body as it is: of Transfer-Encoding only chunked is taken"
            )
        }
        let isRead = head.method == .GET || head.method == .HEAD
        var request = WebRequest(head: head, host: host, address: Self.address(of: channel, head))
        // A browser sends no Origin when a person follows a link or opens a page; it always does for requests that
        // change something.
        if !isRead || request.isBridge {
            try door.checkOrigin(
                of: head,
                host: host,
                mustHaveOrigin: (request.isBridge || request.isMedia) && request.bearerToken == nil
            )
        }
        request.sender = sender(of: request)
        return request
    }

    /// Tokens are for programs: only calls, WebSockets and media look at them.
    private func sender(of request: WebRequest) -> WebRequest.Sender {
        if request.isCall || request.isBridge || request.isMedia, let token = request.bearerToken {
            do throws(Authenticator.Refusal) {
                return .program(try doorkeeper.user(token: token, from: request.address))
            } catch {
                return .refused(error)
            }
        }
        guard !request.isCall, let cookie = Cookie.value(request.cookieName, in: request.head.headers),
            let (key, identity, session) = doorkeeper.identity(session: cookie)
        else { return .unknown }
        return .session(key: key, identity, session)
    }

    /// Why a request is refused by its head, whatever its body; nil if it is not.
    func refusal(of request: WebRequest) -> Response? {
        switch request.sender {
        case .refused(let refusal): refused(refusal, request)
        case .unknown where request.isCall: Self.callWithoutToken
        case .unknown where request.isUpload: Self.unauthorized
        case _ where request.isUpload: uploadRefusal(of: request)
        // Who is let in would be decided long before it is complete.
        case _ where request.isBridge && request.head.method == .GET && request.head.bodyCount != 0:
            .error(.badRequest, "badRequest", "a request for a WebSocket has no body")
        case .unknown, .session, .program: nil
        }
    }

    /// Whether the sender may still come in: a log-out, or the removal of a user, may have come after the head.
    func isStillIn(_ sender: WebRequest.Sender) -> Bool {
        switch sender {
        case .unknown, .refused: true
        case .session(let key, let identity, _): doorkeeper.identity(sessionKey: key)?.identity == identity
        case .program(let user): doorkeeper.users[user.identity.name] == user
        }
    }

    /// The address by which failed attempts are counted. Behind a Unix socket is a proxy, which names its client last.
    private static func address(of channel: any Channel, _ head: HTTPRequestHead) -> String {
        if let address = channel.remoteAddress?.ipAddress { return address }
        let named = head.headers[canonicalForm: "x-forwarded-for"].last.map(String.init) ?? ""
        return String("\(WebPeer.proxyPrefix)\(named)".prefix(100))
    }

    // MARK: Requests

    func answer(_ request: WebRequest, _ calls: DaemonCalls) -> EventLoopFuture<Response> {
        guard isStillIn(request.sender) else { return now(Self.unauthorized) }
        return switch (request.path, request.head.method) {
        case ("/login", .POST): logIn(request)
        case ("/logout", .POST): logOut(request)
        case ("/session", .GET): now(session(request))
        case ("/call", .POST): call(request, calls)
        case ("/call", _): now(.error(.methodNotAllowed, "badRequest", Self.callForm).with("allow", "POST"))
        case ("/login", _), ("/logout", _): now(Self.notAllowed("POST"))
        case ("/session", _): now(Self.notAllowed("GET"))
        case (_, .GET) where request.isMedia, (_, .HEAD) where request.isMedia: media(request, calls)
        case _ where request.isMedia: now(Self.notAllowed("GET, HEAD, PUT"))
        case (_, .GET), (_, .HEAD): page(request)
        default: now(Self.notAllowed("GET, HEAD"))
        }
    }

    func now(_ response: Response) -> EventLoopFuture<Response> { dialer.loop.makeSucceededFuture(response) }

    static func notAllowed(_ methods: String) -> Response {
        .error(.methodNotAllowed, "badRequest", "this takes \(methods)").with("allow", methods)
    }

    // MARK: Pages

    private func page(_ request: WebRequest) -> EventLoopFuture<Response> {
        guard let path = PagePath(request.head.uri) else {
            return now(Self.missing(.error(.notFound, "notFound", "there is no such page"), for: request))
        }
        guard path.isPublic || request.identity != nil else { return now(Self.logInFirst(request, path)) }
        return pages.answer(path, request.head, for: request.peer, on: fair.files).map {
            Self.missing($0, for: request)
        }
    }

    /// Where nothing is: a page for a person, who has typed an address or followed an old link. What is there stays.
    static func missing(_ response: Response, for request: WebRequest) -> Response {
        guard response.status == .notFound, request.isOfPerson else { return response }
        let root = Location.root(from: request.head.uri)
        let page = """
            <!doctype html>
            <html lang="en">
            <meta charset="utf-8">
            <meta name="viewport" content="width=device-width">
            <title>Not here</title>
            <link rel="stylesheet" href="\(root)style.css">
            <main class="fill">
            <h1>There is no such page here.</h1>
            <p><a href="\(root)./">To the first page of this device</a></p>
            </main>
            </html>

            """
        var response = Response(.notFound, headers: ["content-type": "text/html; charset=utf-8"])
        response.body = .bytes(ByteBuffer(string: page))
        return response
    }

    /// A person is sent to the log-in page, a program gets an error.
    static func logInFirst(_ request: WebRequest, _ path: PagePath) -> Response {
        guard request.isOfPerson else { return unauthorized }
        let next = path.file == "index.html" ? "" : "?next=\(Location.encode(path))"
        return Response(.seeOther, headers: ["location": "\(Location.root(from: request.head.uri))login.html\(next)"])
    }

    static var unauthorized: Response {
        let message =
            "you are not logged in: open the address that «quickconnect web open» or «quickconnect web user link NAME» "
            + "prints, or type a token at login.html; a program sends it (Authorization: Bearer TOKEN) to call, bridge "
            + "or media, not to a page; \(tokenSource)"
        return .error(.unauthorized, "denied", message).with("www-authenticate", "Bearer")
    }

    /// Of a page, too: its log-in is not looked at there.
    static var callWithoutToken: Response {
        .error(.unauthorized, "denied", callForm).with("www-authenticate", "Bearer")
    }

    private static let callForm =
        "a call by HTTP is a POST with a token (Authorization: Bearer TOKEN), and a log-in does not count for it: "
        + "a page calls by makeCall of quickconnect.js; for a program, \(tokenSource)"
    private static let tokenSource = "«quickconnect web user add NAME --group home» prints a token"
}

extension WebSite {
    func responseHead(
        _ response: Response,
        to request: HTTPRequestHead,
        host: String?,
        isLast: Bool
    ) -> HTTPResponseHead {
        var head = HTTPResponseHead(version: .http1_1, status: response.status, headers: response.headers)
        if response.status != .notModified { head.headers.add(name: "content-length", value: "\(response.count)") }
        let isMedia = request.isMedia && !response.isPage
        security.add(to: &head.headers, host: host, isEncrypted: RequestFilter.isEncrypted(request), isMedia: isMedia)
        if isLast { head.headers.add(name: "connection", value: "close") }
        return head
    }
}
