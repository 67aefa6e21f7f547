import JSON

/// Percent-encoding as JavaScript's `encodeURIComponent` and `decodeURIComponent` do it.
public enum PercentEncoding {
    /// What is wrong with an encoded value, to follow its name: `has the bad escape '%zz'`.
    struct Failure: Error {
        var message: String
    }

    /// Whether `encodeURIComponent` leaves a byte as it is: A-Z a-z 0-9 - _ . ! ~ * ' ( )
    static let isUnreserved: [Bool] = {
        let letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.!~*'()"
        var table = [Bool](repeating: false, count: 256)
        for byte in letters.utf8 { table[Int(byte)] = true }
        return table
    }()

    static func encode(_ text: String, into output: inout [UInt8]) {
        var text = text
        text.withUTF8 { encode($0, into: &output) }
    }

    static func encode(_ bytes: UnsafeBufferPointer<UInt8>, into output: inout [UInt8]) {
        let isUnreserved = isUnreserved
        guard !bytes.allSatisfy({ isUnreserved[Int($0)] }) else { return output.append(contentsOf: bytes) }
        for byte in bytes {
            if isUnreserved[Int(byte)] {
                output.append(byte)
            } else {
                output.append(UInt8(ascii: "%"))
                output.append(upperHexadecimalDigits[Int(byte >> 4)])
                output.append(upperHexadecimalDigits[Int(byte & 15)])
            }
        }
    }

    /// The text as one value of a `call?…` line.
    public static func encode(_ text: String) -> String {
        var bytes: [UInt8] = []
        encode(text, into: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    /// The text that the bytes stand for. `+` stands for itself.
    static func decode(_ bytes: borrowing Span<UInt8>) throws(Failure) -> String {
        var isPlain = true
        for index in 0..<bytes.count {
            let byte = bytes[unchecked: index]
            // Most values are plain ASCII, and need no second look.
            if byte == UInt8(ascii: "%") || byte == 0 || byte >= 0x80 { isPlain = false }
        }
        if isPlain { return String(decoding: bytes) }
        let decoded = try decodedBytes(bytes)
        return try text(decoded.span)
    }

    private static func decodedBytes(_ bytes: borrowing Span<UInt8>) throws(Failure) -> [UInt8] {
        var decoded: [UInt8] = []
        decoded.reserveCapacity(bytes.count)
        var index = 0
        while index < bytes.count {
            if bytes[index] != UInt8(ascii: "%") {
                decoded.append(bytes[index])
                index += 1
            } else if let byte = escapedByte(bytes, at: index) {
                decoded.append(byte)
                index += 3
            } else {
                throw badEscape(bytes, at: index)
            }
        }
        return decoded
    }

    private static func escapedByte(_ bytes: borrowing Span<UInt8>, at index: Int) -> UInt8? {
        guard index + 2 < bytes.count, let high = hexadecimalDigit(bytes[index + 1]) else { return nil }
        return hexadecimalDigit(bytes[index + 2]).map { high << 4 | $0 }
    }

    private static func badEscape(_ bytes: borrowing Span<UInt8>, at index: Int) -> Failure {
        let escape = String(decoding: bytes.extracting(index..<min(index + 3, bytes.count)))
        return Failure(message: "has the bad escape '\(escape)'")
    }

    private static func text(_ bytes: borrowing Span<UInt8>) throws(Failure) -> String {
        guard bytes.firstIndex(of: 0) == nil else { throw Failure(message: "has a NUL") }
        guard let text = String(validating: bytes) else { throw Failure(message: "is not UTF-8") }
        return text
    }
}
