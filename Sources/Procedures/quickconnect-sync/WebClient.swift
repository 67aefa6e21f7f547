internal import CCurl
internal import Configuration
internal import ProcedureSets

/// Asks one server for files, one after the other over one connection.
final class WebClient {
    /// What came of a question.
    enum Answer {
        case text([UInt8], SetRecord.Mark)
        /// It is what the mark was of.
        case unchanged
        case absent
    }

    private let handle: UnsafeMutableRawPointer
    private let token: String?
    private let body = Download()

    private static let maxRedirects = 5
    /// The longest mark that is stored.
    private static let maxMarkBytes = 200

    /// - Parameters:
    ///   - token: sent as `Authorization: Bearer …`; nil: none.
    ///   - patience: seconds without a byte, after which the server counts as gone.
    init?(token: String?, patience: Int) {
        guard curl_global_init(Int(CURL_GLOBAL_DEFAULT)) == CURLE_OK, let handle = curl_easy_init() else { return nil }
        self.handle = handle
        self.token = token
        for (option, value) in [
            (CURLOPT_NOSIGNAL, 1), (CURLOPT_FOLLOWLOCATION, 0), (CURLOPT_SSL_VERIFYPEER, 1),
            (CURLOPT_SSL_VERIFYHOST, 2),
            (CURLOPT_CONNECTTIMEOUT, patience), (CURLOPT_LOW_SPEED_LIMIT, 1), (CURLOPT_LOW_SPEED_TIME, patience),
            // Also limits an answer that trickles in.
            (CURLOPT_TIMEOUT, patience * 4),
        ] { _ = qc_curl_set_long(handle, option, value) }
        _ = qc_curl_set_text(handle, CURLOPT_PROTOCOLS_STR, "http,https")
        _ = qc_curl_set_text(handle, CURLOPT_USERAGENT, "quickconnect-sync")
        _ = qc_curl_set_pointer(handle, CURLOPT_WRITEDATA, Unmanaged.passUnretained(body).toOpaque())
        _ = qc_curl_set_taker(handle, CURLOPT_WRITEFUNCTION) { bytes, _, count, context in
            guard let bytes, let context else { return 0 }
            return Unmanaged<Download>.fromOpaque(context).takeUnretainedValue().take(bytes, count)
        }
    }

    deinit { curl_easy_cleanup(handle) }

    /// Asks for an address. Redirects are followed as long as they stay on the same server.
    /// - Parameter mark: of the text that is here already.
    func get(_ address: String, mark: SetRecord.Mark?) throws(SetRefusal) -> Answer {
        guard let origin = WebAddress(address)?.origin else { throw SetRefusal("\(address) is not an address") }
        var next = address
        for _ in 0...Self.maxRedirects {
            let status = try ask(next, mark)
            guard let redirect = qc_curl_redirect(handle).map({ String(cString: $0) }) else {
                return try answer(status, address)
            }
            guard WebAddress(redirect)?.origin == origin else {
                throw SetRefusal("\(address) redirects to another server, \(redirect.prefix(200))")
            }
            next = redirect
        }
        throw SetRefusal("\(address) redirects more than \(Self.maxRedirects) times")
    }

    private func ask(_ address: String, _ mark: SetRecord.Mark?) throws(SetRefusal) -> Int {
        body.bytes = []
        var headers: UnsafeMutablePointer<curl_slist>?
        defer { curl_slist_free_all(headers) }
        for line in lines(mark) { headers = curl_slist_append(headers, line) ?? headers }
        _ = qc_curl_set_headers(handle, headers)
        defer { _ = qc_curl_set_headers(handle, nil) }
        _ = qc_curl_set_text(handle, CURLOPT_URL, address)
        let code = curl_easy_perform(handle)
        guard code == CURLE_OK else { throw failure(code, address) }
        return qc_curl_status(handle)
    }

    private func lines(_ mark: SetRecord.Mark?) -> [String] {
        var lines: [String] = []
        if let token { lines.append("Authorization: Bearer \(token)") }
        if let tag = mark?.tag { lines.append("If-None-Match: \(tag)") }
        if let modified = mark?.modified { lines.append("If-Modified-Since: \(modified)") }
        return lines
    }

    private func failure(_ code: CURLcode, _ address: String) -> SetRefusal {
        let why = String(cString: curl_easy_strerror(code))
        switch code {
        case CURLE_WRITE_ERROR, CURLE_FILESIZE_EXCEEDED:
            return SetRefusal("\(address) has more than \(ProcedureSettings.fileBytes) bytes")
        case CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CACERT_BADFILE, CURLE_UNSUPPORTED_PROTOCOL:
            return SetRefusal("\(address): \(why)")
        default: return .unreachable("\(address): \(why)")
        }
    }

    private func answer(_ status: Int, _ address: String) throws(SetRefusal) -> Answer {
        switch status {
        case 200: return .text(body.bytes, SetRecord.Mark(tag: header("ETag"), modified: header("Last-Modified")))
        case 304: return .unchanged
        case 404, 410: return .absent
        case 401, 403:
            throw SetRefusal("\(address) is refused to this device (\(status)): see the token in docs/procedures.md")
        case 408, 429, 500...599: throw .unreachable("\(address): the server answers \(status)")
        default: throw SetRefusal("\(address): the server answers \(status), and only 200 replaces a file")
        }
    }

    /// A header that can be sent back unchanged.
    private func header(_ name: String) -> String? {
        guard let text = qc_curl_header(handle, name).map({ String(cString: $0) }),
            (1...Self.maxMarkBytes).contains(text.utf8.count), text.utf8.allSatisfy({ (0x20...0x7E).contains($0) })
        else { return nil }
        return text
    }
}

/// What has come of an answer so far.
private final class Download {
    var bytes: [UInt8] = []

    /// Takes what came, up to the size that a file may have: then the transfer ends.
    func take(_ more: UnsafeMutablePointer<CChar>, _ count: Int) -> Int {
        guard bytes.count + count <= ProcedureSettings.fileBytes else { return 0 }
        bytes += UnsafeRawBufferPointer(start: more, count: count)
        return count
    }
}
