internal import CCurl

/// An address taken apart by the library that will use it, so that both always agree on its host.
struct WebAddress {
    /// Scheme, host and port, which a redirect must not change.
    let origin: [String]

    init?(_ text: String) {
        guard let parts = curl_url() else { return nil }
        defer { curl_url_cleanup(parts) }
        guard curl_url_set(parts, CURLUPART_URL, text, 0) == CURLUE_OK else { return nil }
        origin = [CURLUPART_SCHEME, CURLUPART_HOST, CURLUPART_PORT].map { Self.part($0, of: parts) }
    }

    private static func part(_ part: CURLUPart, of parts: OpaquePointer) -> String {
        var text: UnsafeMutablePointer<CChar>?
        guard curl_url_get(parts, part, &text, UInt32(CURLU_DEFAULT_PORT)) == CURLUE_OK, let text else { return "" }
        defer { curl_free(text) }
        return String(cString: text).lowercased()
    }
}
