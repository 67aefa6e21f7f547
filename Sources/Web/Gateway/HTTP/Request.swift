internal import Linux
internal import NIOCore
internal import NIOHTTP1

/// A request that passed the ``RequestFilter``; first without its body.
struct WebRequest {
    /// Who sends it, decided by its head.
    enum Sender {
        case unknown
        /// A page, or somebody's browser.
        case session(key: String, WebIdentity, Sessions.Session)
        /// A program with a token.
        case program(Users.User)
        /// A token that lets nobody in.
        case refused(Authenticator.Refusal)

        /// For whom the daemon would act; nil: for nobody.
        var user: DaemonUser? {
            switch self {
            case .session(let key, let identity, _): DaemonUser(identity: identity, session: key)
            case .program(let user):
                DaemonUser(identity: user.identity, session: Sessions.key(ofProgramsOf: user.identity.name))
            case .unknown, .refused: nil
            }
        }
    }

    var head: HTTPRequestHead
    var body = ByteBuffer()
    /// The checked header Host.
    var host: String
    /// The address by which failed attempts are counted.
    var address: String
    var sender = Sender.unknown

    var path: String { String(head.uri.prefix { $0 != "?" }) }
    /// Whether a browser shows the answer to somebody.
    var isOfPerson: Bool { head.headers["accept"].contains { $0.contains("text/html") } }
    var query: String { head.uri.contains("?") ? String(head.uri.drop { $0 != "?" }.dropFirst()) : "" }
    var isEncrypted: Bool { RequestFilter.isEncrypted(head) }
    var cookieName: String { Cookie.name(host: host) }
    var isBridge: Bool { path == "/bridge" }
    var isCall: Bool { path == "/call" && head.method == .POST }
    var isMedia: Bool { head.isMedia }
    /// A file that is written as its bytes come, and never kept whole.
    var isUpload: Bool { isMedia && (head.method == .PUT || head.method == .POST) }

    var identity: WebIdentity? { sender.user?.identity }

    /// For whom it counts.
    var peer: WebPeer { identity.map { .user($0.name) } ?? .stranger(at: address) }

    /// The token of `Authorization: Bearer TOKEN`.
    var bearerToken: String? { Self.bearerToken(of: head) }

    static func bearerToken(of head: HTTPRequestHead) -> String? {
        let lines = head.headers["authorization"]
        guard lines.count == 1, let line = lines.first, line.prefix(7).lowercased() == "bearer " else { return nil }
        return String(line.dropFirst(7).drop { $0 == " " })
    }
}

/// For whom a connection to the daemon is, and the session with which it ends.
struct DaemonUser: Equatable {
    var identity: WebIdentity
    var session: String
}

extension HTTPRequestHead {
    /// The same request in the form that all others have: no spaces around a value (RFC 9110 5.5), and as the target a path,
    /// where a proxy has sent a whole address; then its host counts, not that of the header (RFC 9112 3.2.2).
    var plain: HTTPRequestHead {
        var head = self
        let spaces: [UInt8?] = [UInt8(ascii: " "), UInt8(ascii: "\t")]
        if headers.contains(where: { spaces.contains($0.value.utf8.first) || spaces.contains($0.value.utf8.last) }) {
            head.headers = HTTPHeaders(
                headers.map { name, value in
                    let rest = value.utf8.drop { spaces.contains($0) }.reversed().drop { spaces.contains($0) }
                    return (name, String(decoding: rest.reversed(), as: UTF8.self))
                }
            )
        }
        // Nearly all are paths.
        guard uri.utf8.first != UInt8(ascii: "/"),
            let scheme = ["http://", "https://"].first(where: { uri.prefix($0.utf8.count).lowercased() == $0 })
        else { return head }
        let rest = uri.dropFirst(scheme.utf8.count)
        let end = rest.firstIndex { $0 == "/" || $0 == "?" } ?? rest.endIndex
        head.uri = rest[end...].hasPrefix("/") ? String(rest[end...]) : "/\(rest[end...])"
        // One that comes without, or with two, is refused as such.
        if head.headers["host"].count == 1 { head.headers.replaceOrAdd(name: "host", value: String(rest[..<end])) }
        return head
    }

    /// Whether its sender waits with the body until it is told to go on.
    var asksToContinue: Bool { headers[canonicalForm: "expect"].contains { $0.lowercased() == "100-continue" } }

    /// Whether its address is one of files of the media folder.
    var isMedia: Bool {
        guard let path = PagePath(uri) else { return uri.hasPrefix("/media") }
        return path.names.first == "media"
    }

    /// How long the body is; nil: it comes in chunks. The parser has checked that there is one length.
    var bodyCount: Int? {
        if headers.contains(name: "transfer-encoding") { return nil }
        return headers[canonicalForm: "content-length"].first.flatMap { Int($0) } ?? 0
    }

    /// After a request for another protocol NIO reads no further request.
    var isLastOfConnection: Bool {
        // NIO's parser overlooks a «close» that a tab follows.
        let saysClose = headers[canonicalForm: "connection"].contains { $0.lowercased() == "close" }
        return saysClose || !isKeepAlive || headers.contains(name: "upgrade") || method == .CONNECT
    }
}
