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
        return String(decoding: buffer.bytes, as: UTF8.self)
    }

    /// The text that the bytes stand for. `+` stands for itself.
    static func decode(_ encoded: UnsafeBufferPointer<UInt8>) throws(Failure) -> String {
        var bytes = SharedBytes(capacity: encoded.count)
        let range = try decode(encoded, into: &bytes)
        return String(decoding: bytes.slice(range), as: UTF8.self)
    }

    /// Appends the text that the encoded bytes stand for. There must be room for the encoded ones.
    /// - Returns: where the text is.
    static func decode(
        _ encoded: UnsafeBufferPointer<UInt8>,
        into bytes: inout SharedBytes
    ) throws(Failure) -> Range<Int> {
        let start = bytes.count
        bytes.append(encoded)
        var isText = true
        try bytes.rewrite(from: start) { text throws(Failure) in
            let length = try decodeInPlace(text)
            isText = isValid(UnsafeBufferPointer(rebasing: text[..<length]))
            return length
        }
        guard isText else { throw Failure(message: notText(bytes.slice(start..<bytes.count))) }
        return start..<bytes.count
    }

    /// - Returns: how many bytes are left.
    private static func decodeInPlace(_ bytes: UnsafeMutableBufferPointer<UInt8>) throws(Failure) -> Int {
        var read = 0
        while read < bytes.count, bytes[read] != UInt8(ascii: "%") { read += 1 }
        var written = read
        while read < bytes.count {
            let byte = bytes[read]
            if byte == UInt8(ascii: "%") {
                guard read + 2 < bytes.count, let high = hexadecimalDigit(bytes[read + 1]),
                    let low = hexadecimalDigit(bytes[read + 2])
                else { throw badEscape(bytes[read..<min(read + 3, bytes.count)]) }
                bytes[written] = high << 4 | low
                read += 3
            } else {
                bytes[written] = byte
                read += 1
            }
            written += 1
        }
        return written
    }

    private static func badEscape(_ escape: Slice<UnsafeMutableBufferPointer<UInt8>>) -> Failure {
        Failure(message: "has the bad escape '\(String(decoding: escape, as: UTF8.self))'")
    }

    /// Whether it is UTF-8 without NUL.
    private static func isValid(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        // Nearly all text is ASCII.
        if bytes.allSatisfy({ $0 < 0x80 && $0 != 0 }) { return true }
        return !bytes.contains(0) && UTF8Text.isValid(bytes)
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
