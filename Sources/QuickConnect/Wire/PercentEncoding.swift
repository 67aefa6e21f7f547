import JSON

/// Percent-encoding as JavaScript's `encodeURIComponent` and `decodeURIComponent` do it.
public enum PercentEncoding {
    /// What is wrong with an encoded value, to follow its name: `has the bad escape '%zz'`.
    struct Failure: Error {
        var message: String
    }

    /// The text as one value of a `call?…` line.
    public static func encode(_ text: String) -> String {
        let buffer = OutputBuffer(capacity: text.utf8.count + 16)
        buffer.appendPercentEncoded(text)
        return buffer.text
    }

    /// The text that the bytes stand for. `+` stands for itself.
    static func decode(_ encoded: UnsafeBufferPointer<UInt8>) throws(Failure) -> String {
        var bytes = SharedBytes(capacity: encoded.count)
        defer { withExtendedLifetime(bytes) {} }
        let range = try decode(encoded, into: &bytes)
        return bytes.text(range)
    }

    /// Appends the text that the encoded bytes stand for. There must be room for the encoded ones.
    /// - Returns: where the text is.
    static func decode(
        _ encoded: UnsafeBufferPointer<UInt8>,
        into bytes: inout SharedBytes
    ) throws(Failure) -> Range<Int> {
        let start = bytes.count
        var isPlain = true
        var badEscape = -1
        bytes.append(atMost: encoded.count) { decode(encoded, to: $0, &isPlain, &badEscape) }
        if badEscape >= 0 { throw failure(badEscape, of: encoded) }
        let range = start..<bytes.count
        guard isPlain || isValid(bytes.slice(range)) else { throw Failure(message: notText(bytes.slice(range))) }
        return range
    }

    /// - Parameters:
    ///   - isPlain: becomes false where a byte is no ASCII, or NUL.
    ///   - badEscape: becomes the index of the first escape that is none.
    /// - Returns: how many bytes were written.
    @inline(__always)
    private static func decode(
        _ encoded: UnsafeBufferPointer<UInt8>,
        to text: UnsafeMutablePointer<UInt8>,
        _ isPlain: inout Bool,
        _ badEscape: inout Int
    ) -> Int {
        var read = 0
        var written = 0
        var odd: UInt8 = 0
        while read < encoded.count {
            var byte = encoded[read]
            if byte == UInt8(ascii: "%") {
                guard read + 2 < encoded.count, let high = hexadecimalDigit(encoded[read + 1]),
                    let low = hexadecimalDigit(encoded[read + 2])
                else {
                    badEscape = read
                    return 0
                }
                byte = high << 4 | low
                read += 2
            }
            // The top bit is set where the byte is no ASCII, or NUL.
            odd |= byte | (byte &- 1)
            text[written] = byte
            written += 1
            read += 1
        }
        isPlain = odd < 0x80
        return written
    }

    private static func failure(_ index: Int, of encoded: UnsafeBufferPointer<UInt8>) -> Failure {
        let escape = String(decoding: encoded[index..<min(index + 3, encoded.count)], as: UTF8.self)
        return Failure(message: "has the bad escape '\(escape)'")
    }

    /// Whether it is UTF-8 without NUL.
    private static func isValid(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        !bytes.contains(0) && UTF8Text.isValid(bytes)
    }

    private static func notText(_ bytes: UnsafeBufferPointer<UInt8>) -> String {
        bytes.contains(0) ? "has a NUL" : "is not UTF-8"
    }
}

extension OutputBuffer {
    /// Appends a text as `encodeURIComponent` writes it.
    func appendPercentEncoded(_ text: String) {
        var text = text
        text.withUTF8 { appendPercentEncoded($0) }
    }
}
