import CWebKit
import Glibc
import JSON
import Linux
import QuickConnect
import QuickConnectClient

/// Files of the daemon's media folder as `qc://app/media/NAME`, as pages in browsers have them at the gateway: with the
/// same command, so the daemon decides who may have which.
final class MediaScheme {
    private let daemon: DaemonHost
    private var reading = 0
    private var waiting: [() -> Void] = []

    /// How many files are read at once; further ones wait.
    private static let readLimit = 16

    /// - Parameter daemon: the window's own connection.
    init(_ daemon: DaemonHost) { self.daemon = daemon }

    func answer(_ path: PagePath, _ request: SchemeRequest) {
        let name = path.names.count > 1 && !path.isFolder ? path.names.dropFirst().joined(separator: "/") : nil
        switch (request.method, name) {
        case ("GET", let name?), ("HEAD", let name?): read(name, request)
        case ("PUT", .some), ("POST", nil): refuseBody(of: request, name)
        case ("GET", nil), ("HEAD", nil):
            request.refuse(404, "notFound", "name a file: media/NAME; the command «media» lists them")
        case (_, let name):
            request.refuse(405, "badRequest", "this takes \(name == nil ? "POST" : "GET, HEAD, PUT")")
        }
    }

    // MARK: Reading

    private func read(_ name: String, _ request: SchemeRequest) {
        guard reading < Self.readLimit else { return waiting.append { [weak self] in self?.read(name, request) } }
        reading += 1
        MediaSending.facts(of: name, daemon) { [self] result in
            switch result {
            case .failure(.refused(let failure)):
                request.refuse(failure)
                readIsOver()
            case .failure(.misunderstood):
                request.refuse(500, "internal", "the daemon's answer is not understood")
                readIsOver()
            case .success(let facts): begin(facts, name, request)
            }
        }
    }

    private func begin(_ facts: MediaSending.Facts, _ name: String, _ request: SchemeRequest) {
        var headers = [("Accept-Ranges", "bytes"), ("ETag", "\"\(facts.tag)\"")]
        let isSame = request.header("If-Range").map { $0 == "\"\(facts.tag)\"" } ?? true
        var (range, status) = (0..<facts.size, 200)
        switch ByteRange(isSame ? request.header("Range") : nil, size: facts.size) {
        case .whole: break
        case .part(let part):
            (range, status) = (part, 206)
            headers.append(("Content-Range", "bytes \(part.lowerBound)-\(part.upperBound - 1)/\(facts.size)"))
        case .unsatisfiable:
            let message = "the file has \(facts.size) bytes, and none in that range"
            request.refuse(416, "badRequest", message, [("Content-Range", "bytes */\(facts.size)")])
            return readIsOver()
        }
        if FileType.shown(name) == nil {
            let file = PercentEncoding.encode(name.split(separator: "/").last.map(String.init) ?? name)
            headers.append(("Content-Disposition", "attachment; filename*=UTF-8''\(file)"))
        }
        headers.append(("Content-Length", "\(range.count)"))
        let type = FileType.shown(name) ?? "application/octet-stream"
        guard request.method == "GET", !range.isEmpty else {
            request.finish(status, type, headers, [])
            return readIsOver()
        }
        let sending = MediaSending(name, facts.tag, range, daemon) { [self] in readIsOver() }
        guard let stream = sending.start() else { return request.refuse(503, "unavailable", "no socket could be made") }
        request.finish(status, type, headers, stream, count: range.count)
    }

    private func readIsOver() {
        reading -= 1
        guard !waiting.isEmpty else { return }
        waiting.removeFirst()()
    }

    // MARK: Writing

    /// The engine passes the body of no request on reliably: with a Blob it crashes where the body is asked for, in the
    /// window's own process. So the page's side (media.js) writes in pieces, once this has said so.
    private func refuseBody(of request: SchemeRequest, _ name: String?) {
        let message = "a window passes no bodies on: write the file in pieces, with the command media"
        var answer: JSONObject = ["code": "unsupported", "message": .string(message)]
        if let name { answer["file"] = .string(name) }
        request.answer(.object(answer), 501)
    }
}

/// A request of a page for an address of the scheme. It is answered once.
final class SchemeRequest {
    private let request: UnsafeMutablePointer<WebKitURISchemeRequest>
    let method: String

    init(_ request: UnsafeMutablePointer<WebKitURISchemeRequest>) {
        self.request = request
        g_object_ref(request)
        method = webkit_uri_scheme_request_get_http_method(request).map { String(cString: $0) } ?? "GET"
    }

    // Freed on the main thread, where all of its users are.
    isolated deinit { g_object_unref(request) }

    func header(_ name: String) -> String? {
        guard let headers = webkit_uri_scheme_request_get_http_headers(request) else { return nil }
        return soup_message_headers_get_one(headers, name).map { String(cString: $0) }
    }

    /// - Parameter stream: is taken over.
    func finish(
        _ status: Int,
        _ type: String,
        _ headers: [(String, String)],
        _ stream: UnsafeMutablePointer<GInputStream>,
        count: Int
    ) {
        let response = webkit_uri_scheme_response_new(stream, gint64(count))
        webkit_uri_scheme_response_set_content_type(response, type)
        let list = soup_message_headers_new(SOUP_MESSAGE_HEADERS_RESPONSE)
        for (name, value) in Self.security + [("Content-Type", type)] + headers {
            soup_message_headers_append(list, name, value)
        }
        webkit_uri_scheme_response_set_http_headers(response, list)
        webkit_uri_scheme_response_set_status(response, guint(status), nil)
        webkit_uri_scheme_request_finish_with_response(request, response)
        g_object_unref(response)
        g_object_unref(stream)
    }

    func finish(_ status: Int, _ type: String, _ headers: [(String, String)], _ bytes: [UInt8]) {
        let copy = g_bytes_new(bytes, gsize(bytes.count))
        defer { g_bytes_unref(copy) }
        guard let stream = g_memory_input_stream_new_from_bytes(copy) else { return }
        finish(status, type, headers, stream, count: bytes.count)
    }

    /// An answer in JSON.
    func answer(_ value: JSONValue, _ status: Int, _ headers: [(String, String)] = []) {
        finish(status, "application/json", headers, Array("\(value.text)\n".utf8))
    }

    func refuse(_ status: Int, _ code: String, _ message: String, _ headers: [(String, String)] = []) {
        answer(["code": .string(code), "message": .string(message)], status, headers)
    }

    func refuse(_ failure: CallFailure) {
        refuse(CallFailure.httpStatus(of: failure.code), failure.code, failure.message)
    }

    private static let security = [
        ("Content-Security-Policy", "sandbox; default-src 'none'"), ("X-Content-Type-Options", "nosniff"),
        ("Cross-Origin-Resource-Policy", "same-origin"), ("Cache-Control", "no-cache"),
    ]
}

/// A part of a file of the media folder on its way into a stream of the engine, a piece at a time. It lives until it is
/// sent, or the engine does not take it any more.
final class MediaSending {
    /// What is known of a file.
    struct Facts {
        var size: Int
        /// Changes when the file does.
        var tag: String
        var data: [UInt8]

        init?(_ answer: JSONValue) {
            guard let members = answer.objectValue, let size = members["size"]?.numberValue,
                let tag = members["tag"]?.stringValue, let data = members["data"]?.stringValue.flatMap(Base64.decode)
            else { return nil }
            (self.size, self.tag, self.data) = (Int(size), tag, data)
        }
    }

    /// Why there is no file.
    enum Problem: Error {
        case refused(CallFailure)
        /// The answer is none of the command `media`.
        case misunderstood
    }

    private let name: String
    private let tag: String
    private let daemon: DaemonHost
    private var range: Range<Int>
    private var ended: (() -> Void)?
    private var descriptor: Int32 = -1
    private var rest: ArraySlice<UInt8> = []

    private static let pieceBytes = 64 << 10
    private static let timeout = Duration.seconds(60)

    init(_ name: String, _ tag: String, _ range: Range<Int>, _ daemon: DaemonHost, ended: @escaping () -> Void) {
        self.name = name
        self.tag = tag
        self.range = range
        self.daemon = daemon
        self.ended = ended
    }

    static func facts(
        of name: String,
        from offset: Int = 0,
        atMost count: Int = 1,
        _ daemon: DaemonHost,
        completion: @escaping (Result<Facts, Problem>) -> Void
    ) {
        let parameters: JSONValue = [
            "read", .string(name), .integer(Int64(offset)), .integer(Int64(count)), ["tag": true],
        ]
        daemon.call("media", parameters, timeout: timeout) { result in
            switch result {
            case .failure(let failure): completion(.failure(.refused(failure)))
            case .success(let answer): completion(Facts(answer).map { .success($0) } ?? .failure(.misunderstood))
            }
        }
    }

    /// Begins, and gives the end for the engine; nil if there are no descriptors.
    func start() -> UnsafeMutablePointer<GInputStream>? {
        var ends: [Int32] = [-1, -1]
        let type = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        guard socketpair(AF_UNIX, type, 0, &ends) == 0, let stream = g_unix_input_stream_new(ends[1], 1) else {
            for end in ends where end >= 0 { Glibc.close(end) }
            end()
            return nil
        }
        descriptor = ends[0]
        next()
        return stream
    }

    private func next() {
        guard !range.isEmpty else { return end() }
        let count = min(range.count, Self.pieceBytes)
        Self.facts(of: name, from: range.lowerBound, atMost: count, daemon) { [self] result in
            // The engine was told a length, so that it sees that this is not all.
            guard case .success(let facts) = result, facts.tag == tag, !facts.data.isEmpty else { return end() }
            range = range.dropFirst(facts.data.count)
            rest = facts.data[...]
            send()
        }
    }

    private func send() {
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes {
                Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT))
            }
            if count < 0, errno == EINTR { continue }
            if count < 0, errno == EAGAIN { return wait() }
            guard count > 0 else { return end() }
            rest = rest.dropFirst(count)
        }
        next()
    }

    private func wait() {
        _ = LoopSource.watch(descriptor, G_IO_OUT) { [self] in
            send()
            return false
        }
    }

    private func end() {
        if descriptor >= 0 { Glibc.close(descriptor) }
        descriptor = -1
        ended?()
        ended = nil
    }
}
