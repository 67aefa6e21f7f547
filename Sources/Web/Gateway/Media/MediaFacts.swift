internal import CLinux
internal import Glibc
internal import JSON
internal import Linux
internal import NIOHTTP1

/// What the daemon's `media ["read", …, {"tag": true}]` answers, and what of it a request asks for.
struct MediaFacts: Sendable {
    var data: [UInt8]
    var size: Int
    var tag: String
    /// Milliseconds since 1970.
    var modified: Int

    /// Nil if it is anything else.
    init?(_ answer: [UInt8]) {
        guard let members = (try? JSONParser.parse(String(decoding: answer, as: UTF8.self)))?.objectValue,
            let data = members["data"]?.stringValue.flatMap(Base64.decode), let tag = members["tag"]?.stringValue,
            let size = members["size"]?.numberValue, let modified = members["modified"]?.numberValue
        else { return nil }
        (self.data, self.tag) = (data, tag)
        (self.size, self.modified) = (Int(size), Int(modified))
    }

    static func etag(_ tag: String) -> String { "\"\(tag)\"" }
    private var etag: String { Self.etag(tag) }
    private var lastModified: String? { HTTPDate.text(modified / 1000) }

    var headers: HTTPHeaders {
        var headers: HTTPHeaders = ["etag": etag, "accept-ranges": "bytes"]
        if let lastModified { headers.add(name: "last-modified", value: lastModified) }
        return headers
    }

    /// Whether the browser has it already.
    func isKnown(_ head: HTTPRequestHead) -> Bool {
        let tags = head.headers[canonicalForm: "if-none-match"]
        guard tags.isEmpty else {
            return tags.contains { $0 == "*" || $0 == etag || $0 == "W/\(etag)" }
        }
        return head.headers["if-modified-since"].first.map { modified / 1000 <= qc_http_date($0) } ?? false
    }

    /// The part that is asked for. With `If-Range` only as long as the file is the same.
    func range(_ head: HTTPRequestHead) -> ByteRange {
        let ranges = head.headers["range"]
        let conditions = head.headers["if-range"]
        guard ranges.count == 1, conditions.allSatisfy({ $0 == etag || $0 == lastModified }) else { return .whole }
        return ByteRange(ranges.first, size: size)
    }
}

/// What a request says of the file that it may replace (RFC 9110, 13.1).
enum WriteCondition {
    /// The daemon's option `replaces`; nil: it may replace anything.
    /// - Throws: what cannot be heeded, so that nothing is overwritten that should stay.
    static func option(_ headers: HTTPHeaders) throws(PlainError) -> JSONValue? {
        let (match, noneMatch) = (headers[canonicalForm: "if-match"], headers[canonicalForm: "if-none-match"])
        guard noneMatch.isEmpty || noneMatch == ["*"] && match.isEmpty else {
            throw PlainError("an upload takes «If-None-Match: *», for a file that is not there, or If-Match")
        }
        if !noneMatch.isEmpty { return false }
        guard !match.isEmpty else {
            guard headers["if-unmodified-since"].isEmpty else {
                throw PlainError("a time is too coarse for If-Unmodified-Since: send the ETag with If-Match")
            }
            return nil
        }
        if match == ["*"] { return true }
        // A weak tag is that of no file (RFC 9110, 8.8.3.2).
        let tags = match.filter { $0.count > 1 && $0.hasPrefix("\"") && $0.hasSuffix("\"") }
        return .array(tags.map { .string(String($0.dropFirst().dropLast())) })
    }
}

/// Calls of the daemon's command `media`, as lines up to their ids.
enum MediaCall {
    static func read(_ name: String, from offset: Int, atMost count: Int) -> [UInt8] {
        line(["read", .string(name), .integer(Int64(offset)), .integer(Int64(count)), ["tag": true]])
    }

    static func write(_ name: String, at offset: Int, _ bytes: [UInt8], _ options: JSONObject) -> [UInt8] {
        line(["write", .string(name), .integer(Int64(offset)), .string(Base64.encode(bytes)), .object(options)])
    }

    private static func line(_ parameters: JSONValue) -> [UInt8] {
        Array(#"{"handlerName":"media","data":\#(parameters.text),"callbackId":""#.utf8)
    }
}

/// A moment as HTTP writes it: `Sun, 06 Nov 1994 08:49:37 GMT`.
enum HTTPDate {
    /// - Parameter seconds: since 1970. Nil if the year does not have four digits.
    static func text(_ seconds: Int) -> String? {
        var (time, parts) = (time_t(seconds), tm())
        guard gmtime_r(&time, &parts) != nil, (0...8099).contains(Int(parts.tm_year)) else { return nil }
        // The names are English as long as the program keeps the locale C, as quickconnect-web does.
        var buffer = [CChar](repeating: 0, count: 32)
        let count = strftime(&buffer, buffer.count, "%a, %d %b %Y %H:%M:%S GMT", &parts)
        return String(decoding: buffer.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
