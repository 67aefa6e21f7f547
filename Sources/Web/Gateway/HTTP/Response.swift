internal import JSON
internal import Linux
internal import NIOCore
internal import NIOHTTP1

/// The answer to a request.
struct Response {
    enum Body {
        case bytes(ByteBuffer)
        /// A part of a file that the kernel sends, and that is closed after that.
        case file(NIOFileHandle, Range<Int>)
        /// What comes piece by piece.
        case stream(NIOLoopBound<BodyStream>, count: Int)
    }

    /// A body that is never kept whole. For use on its event loop only.
    struct BodyStream {
        /// The next piece; nil at the end.
        let next: () -> EventLoopFuture<ByteBuffer?>
        /// Nothing more is asked for.
        let end: () -> Void
    }

    var status: HTTPResponseStatus
    var headers: HTTPHeaders = [:]
    var body = Body.bytes(ByteBuffer())
    /// Whether it comes from the folders of pages, also at an address of media.
    var isPage = false

    init(_ status: HTTPResponseStatus, headers: HTTPHeaders = [:]) {
        self.status = status
        self.headers = headers
    }

    /// A JSON value on a line of its own.
    static func json(_ value: JSONValue, _ status: HTTPResponseStatus = .ok) -> Response {
        text(Array(value.text.utf8), type: "application/json", status)
    }

    /// A text that is there as bytes.
    static func text(
        _ text: [UInt8],
        type: String,
        _ status: HTTPResponseStatus = .ok,
        end: String = "\n"
    ) -> Response {
        var response = Response(status, headers: ["content-type": type])
        var buffer = ByteBufferAllocator().buffer(capacity: text.count + end.utf8.count)
        buffer.writeBytes(text)
        buffer.writeString(end)
        response.body = .bytes(buffer)
        return response
    }

    /// An error with a code of the protocol.
    static func error(_ status: HTTPResponseStatus, _ code: String, _ message: String) -> Response {
        json(["code": .string(code), "message": .string(message)], status)
    }

    /// Somebody has used up a share.
    static func overloaded(_ message: String) -> Response {
        error(.serviceUnavailable, "overloaded", "\(message); try again").with("retry-after", "1")
    }

    func with(_ header: String, _ value: String) -> Response {
        var response = self
        response.headers.add(name: header, value: value)
        return response
    }

    init(_ refusal: RequestFilter.Refusal) { self = .error(refusal.status, refusal.code, refusal.message) }

    var count: Int {
        switch body {
        case .bytes(let buffer): buffer.readableBytes
        case .file(_, let part): part.count
        case .stream(_, let count): count
        }
    }

    /// Says which part of a file this is.
    mutating func name(_ range: ByteRange, of size: Int) {
        guard case .part(let part) = range else { return }
        status = .partialContent
        headers.add(name: "content-range", value: "bytes \(part.lowerBound)-\(part.upperBound - 1)/\(size)")
    }

    /// A part behind the end of the file is asked for.
    static func unsatisfiable(size: Int) -> Response {
        let message = "the file has \(size) bytes, and none in that range"
        return error(.rangeNotSatisfiable, "badRequest", message).with("content-range", "bytes */\(size)")
    }

    /// Itself, unless `If-Match` asks for a part or all of another file.
    func matching(_ head: HTTPRequestHead) -> Response {
        let tags = head.headers[canonicalForm: "if-match"]
        guard !tags.isEmpty, let tag = headers["etag"].first, !tags.contains(where: { $0 == "*" || $0 == tag }) else {
            return self
        }
        drop()
        return .error(.preconditionFailed, "invalid", "the file is not the one of If-Match; its ETag is \(tag)")
    }

    /// Closes what would have been sent.
    func drop() {
        switch body {
        case .bytes: break
        case .file(let handle, _): try? handle.close()
        case .stream(let stream, _): stream.value.end()
        }
    }
}

/// The headers that each answer has.
struct SecurityHeaders: Sendable {
    /// Whether pages may contain inline scripts and styles.
    var allowsInline = false
    /// A further origin, for map tiles.
    var tileOrigin: String?

    /// Of files that anybody may have written: a browser that shows one lets it do nothing.
    private static let mediaPolicy = "sandbox; default-src 'none'"

    /// - Parameters:
    ///   - host: the checked host.
    ///   - isMedia: whether it is an answer about a file of the media folder.
    func add(to headers: inout HTTPHeaders, host: String?, isEncrypted: Bool, isMedia: Bool = false) {
        let policy = isMedia ? Self.mediaPolicy : policy(host, isEncrypted: isEncrypted)
        headers.add(name: "content-security-policy", value: policy)
        headers.add(name: "x-content-type-options", value: "nosniff")
        // A form that a page sends without a script would have no Origin otherwise; other sites get nothing.
        headers.add(name: "referrer-policy", value: isMedia ? "no-referrer" : "same-origin")
        headers.add(name: "cross-origin-resource-policy", value: "same-origin")
        headers.add(name: "cross-origin-opener-policy", value: "same-origin")
        if !headers.contains(name: "cache-control") { headers.add(name: "cache-control", value: "no-cache") }
    }

    private func policy(_ host: String?, isEncrypted: Bool) -> String {
        let inline = allowsInline ? " 'unsafe-inline'" : ""
        // Older engines do not count the WebSocket as 'self'.
        let socket = host.map { " \(isEncrypted ? "wss" : "ws")://\($0)" } ?? ""
        return [
            "default-src 'none'", "script-src 'self'\(inline)", "style-src 'self'\(inline)",
            "img-src 'self' data:\(tileOrigin.map { " \($0)" } ?? "")", "media-src 'self' data: blob:",
            "font-src 'self'",
            "manifest-src 'self'", "frame-src 'self'", "connect-src 'self'\(socket)", "base-uri 'none'",
            "form-action 'self'", "frame-ancestors 'self'",
        ].joined(separator: "; ")
    }
}
