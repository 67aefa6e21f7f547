internal import NIOCore
internal import NIOHTTP1

/// A complete request that passed the ``Door``.
struct WebRequest {
    var head: HTTPRequestHead
    var body: ByteBuffer
    /// The checked header Host.
    var host: String
    /// The address by which failed attempts are counted.
    var address: String

    var path: String { String(head.uri.prefix { $0 != "?" }) }
    var query: String { head.uri.contains("?") ? String(head.uri.drop { $0 != "?" }.dropFirst()) : "" }
    var isEncrypted: Bool { Door.isEncrypted(head) }
    var cookieName: String { Cookie.name(host: host) }

    /// The token of `Authorization: Bearer TOKEN`.
    var bearerToken: String? { Self.bearerToken(of: head) }

    static func bearerToken(of head: HTTPRequestHead) -> String? {
        let lines = head.headers["authorization"]
        guard lines.count == 1, let line = lines.first, line.prefix(7).lowercased() == "bearer " else { return nil }
        return String(line.dropFirst(7).drop { $0 == " " })
    }
}
