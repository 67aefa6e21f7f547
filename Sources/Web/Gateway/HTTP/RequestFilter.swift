internal import NIOHTTP1

/// Decides which requests are accepted, by what browsers report about their origin. A value, so it can be tested with
/// headers.
///
/// Loopback is no protection: every page in a browser of this device can send requests there. A page whose owner points
/// its name at this device ("DNS rebinding") has that name in Host; a page from elsewhere has its own name in Origin.
/// So Host is checked first, and Origin against it.
struct RequestFilter: Sendable {
    /// Further names of this host, apart from localhost and its addresses, in lower case.
    let names: Set<String>

    struct Refusal: Error, Equatable {
        var status: HTTPResponseStatus
        var code: String
        var message: String
    }

    /// The only Host header, checked, without the port that its scheme has anyway.
    func host(of head: HTTPRequestHead) throws(Refusal) -> String {
        var hosts = head.headers["host"]
        // HTTP/1.0 needs none (RFC 9112, 3.2), and every browser sends one.
        if hosts.isEmpty, head.version == .http1_0 { hosts = ["localhost"] }
        guard hosts.count == 1, let host = hosts.first, let name = Self.name(of: host) else {
            throw Refusal(status: .badRequest, code: "badRequest", message: "a request has one header Host")
        }
        // A final dot only says that a name is whole.
        let known = name.hasSuffix(".") ? String(name.dropLast()) : name
        guard Self.isAddress(name) || known == "localhost" || names.contains(known) else {
            throw Refusal(
                status: .misdirectedRequest,
                code: "denied",
                message: """
                    this device is not known as \(name); if it is, the line «names: [\(known)]» below «web:» of the \
                    settings says so
                    """
            )
        }
        return Self.withoutDefaultPort(host.lowercased(), isEncrypted: Self.isEncrypted(head))
    }

    private static func withoutDefaultPort(_ host: String, isEncrypted: Bool) -> String {
        let port = [isEncrypted ? ":443" : ":80", ":"].first(where: host.hasSuffix) ?? ""
        return String(host.dropLast(port.utf8.count))
    }

    /// Refuses requests from pages of other origins.
    /// - Parameter mustHaveOrigin: whether only pages may send it.
    func checkOrigin(of head: HTTPRequestHead, host: String, mustHaveOrigin: Bool) throws(Refusal) {
        let origins = head.headers["origin"]
        if origins.isEmpty, !mustHaveOrigin { return }
        let isEncrypted = Self.isEncrypted(head)
        let scheme = isEncrypted ? "https" : "http"
        let own = origins.map { Self.withoutDefaultPort($0.lowercased(), isEncrypted: isEncrypted) }
        guard own == ["\(scheme)://\(host)"] else {
            let sender =
                origins.first.map { "and this one is from \($0.prefix(200))" }
                ?? "or programs that send a token (Authorization: Bearer TOKEN)"
            throw Refusal(
                status: .forbidden,
                code: "denied",
                message: "only pages of \(scheme)://\(host) may do this, \(sender)"
            )
        }
    }

    /// Refuses what a page of another site has a browser ask for, where the browser says so.
    func checkSameSite(_ head: HTTPRequestHead, host: String) throws(Refusal) {
        try checkOrigin(of: head, host: host, mustHaveOrigin: false)
        let sites = head.headers["sec-fetch-site"]
        guard sites.allSatisfy({ $0 == "same-origin" || $0 == "none" }) else {
            let message = "only pages of this gateway may have this, and this one is of another site"
            throw Refusal(status: .forbidden, code: "denied", message: message)
        }
    }

    /// Whether the reverse proxy in front reports that the browser used TLS; of several proxies, the first one in the list.
    /// A client that pretends this gains nothing.
    static func isEncrypted(_ head: HTTPRequestHead) -> Bool {
        head.headers[canonicalForm: "x-forwarded-proto"].first?.lowercased() == "https"
    }

    /// The name or address in `NAME:PORT`, in lower case; nil if there is none.
    private static func name(of host: String) -> String? {
        let bytes = host.utf8
        guard !bytes.isEmpty, bytes.count <= 260, bytes.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else { return nil }
        let lower = host.lowercased()
        if lower.hasPrefix("[") {
            guard let end = lower.firstIndex(of: "]"), isPort(lower[lower.index(after: end)...]) else { return nil }
            return String(lower[...end])
        }
        let colon = lower.firstIndex(of: ":") ?? lower.endIndex
        let name = lower[..<colon]
        let letters = name.utf8.allSatisfy { byte in
            (0x61...0x7A).contains(byte) || (0x30...0x39).contains(byte) || byte == 0x2D || byte == 0x2E || byte == 0x5F
        }
        return !name.isEmpty && letters && isPort(lower[colon...]) ? String(name) : nil
    }

    private static func isPort(_ text: Substring) -> Bool {
        let digits = text.dropFirst()
        return text.isEmpty || (text.first == ":" && digits.first != "+" && (digits.isEmpty || UInt16(digits) != nil))
    }

    /// Whether it is an address, which no name server can redirect: 192.0.2.1, [2001:db8::1].
    private static func isAddress(_ name: String) -> Bool {
        if name.hasPrefix("[") {
            let inner = name.dropFirst().dropLast()
            return inner.contains(":") && inner.allSatisfy { $0.isHexDigit || $0 == ":" || $0 == "." }
        }
        let parts = name.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 4 && parts.allSatisfy { UInt8($0) != nil && $0.first != "+" }
    }
}
