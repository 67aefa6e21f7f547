internal import JSON
internal import NIOCore
internal import NIOHTTP1
internal import QuickConnect

/// Decides how requests are answered. For use on its event loop only.
final class Site {
    let door: Door
    let security: SecurityHeaders
    let doorkeeper: Doorkeeper
    private let pages: Pages
    let dialer: DaemonDialer
    let bridges: Bridges
    /// What `GET /session` tells pages in addition to the user.
    let facts: JSONObject
    let tell: (String) -> Void

    /// One byte more than the longest line that the daemon accepts by default, so that the daemon refuses it.
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

    /// Without a token, nobody can make the gateway hold a large body.
    func bodyLimit(of head: HTTPRequestHead) -> Int {
        head.method == .POST && WebRequest.bearerToken(of: head) != nil ? Self.longestMessage : Self.smallBody
    }

    /// Accepts a request of a page of this gateway, or of a program.
    func admit(_ head: HTTPRequestHead, _ body: ByteBuffer, from channel: any Channel) throws(Door.Refusal)
        -> WebRequest
    {
        let host = try door.host(of: head)
        let isRead = head.method == .GET || head.method == .HEAD
        let request = WebRequest(head: head, body: body, host: host, address: Self.address(of: channel, head))
        // A browser sends no Origin when a person follows a link or opens a page; it always does for requests that
        // change something.
        if !isRead || isBridge(request) {
            try door.checkOrigin(of: head, host: host, mustHaveOrigin: isBridge(request) && request.bearerToken == nil)
        }
        return request
    }

    /// The address by which failed attempts are counted. Behind a Unix socket is a proxy, which names its client last.
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

    func now(_ response: Response) -> EventLoopFuture<Response> { dialer.loop.makeSucceededFuture(response) }

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

    /// A person is sent to the log-in page, a program gets an error.
    private static func logInFirst(_ request: WebRequest, _ path: PagePath) -> Response {
        let isPerson = request.head.headers["accept"].contains { $0.contains("text/html") }
        guard isPerson else { return unauthorized }
        let next = path.file == "index.html" ? "" : "?next=\(Location.encode(path))"
        return Response(.seeOther, headers: ["location": "\(path.toRoot)login.html\(next)"])
    }

    static var unauthorized: Response {
        var response = Response.error(
            .unauthorized,
            "denied",
            "you are not logged in: open the address that «quickconnect web open» prints, or log in with a token"
        )
        response.headers.add(name: "www-authenticate", value: "Bearer")
        return response
    }
}
