import JSON

/// Decodes the values of a `call?…` line one after another, each up to its `&`.
struct PercentDecoder {
    private let line: UnsafeBufferPointer<UInt8>
    private let text: UnsafeMutablePointer<UInt8>
    /// The next byte of the line.
    private(set) var position: Int
    /// How many bytes of text there are.
    private(set) var written = 0
    /// Whether the last value has control characters.
    private(set) var foundControl = false
    /// Where the last value has a bad escape; nil if it has none.
    private(set) var badEscape: Int?
    /// Why the last value could not be decoded.
    private(set) var failure = URLFault.Kind.notText

    /// - Parameters:
    ///   - line: must not move while this is used.
    ///   - text: the buffer for the decoded bytes, at least as long as the line.
    @inline(__always)
    init(_ line: UnsafeBufferPointer<UInt8>, at position: Int, to text: UnsafeMutablePointer<UInt8>) {
        self.line = line
        self.position = position
        self.text = text
    }

    /// Consumes the byte if it is the next one.
    @inline(__always)
    mutating func skip(_ byte: UInt8) -> Bool {
        guard position < line.count, line[position] == byte else { return false }
        position += 1
        return true
    }

    /// Consumes an ASCII text if it comes next.
    @inline(__always)
    mutating func skip(_ next: StaticString) -> Bool {
        guard UnsafeBufferPointer(rebasing: line[position...]).starts(with: next) else { return false }
        position += next.utf8CodeUnitCount
        return true
    }

    mutating func skipToEnd() {
        while position < line.count, line[position] != UInt8(ascii: "&") { position += 1 }
    }

    /// Decodes the value that ends at the next `&`.
    /// - Returns: the range of its text; nil if it is not valid, and then the position is somewhere within it.
    @inline(__always)
    mutating func value() -> Range<Int>? {
        let start = written
        foundControl = false
        badEscape = nil
        guard let isPlain = decode() else {
            failure = .badEscape
            written = start
            return nil
        }
        let range = start..<written
        return isPlain || isText(range) ? range : nil
    }

    /// - Returns: whether all of it is ASCII without control characters; nil at a bad escape.
    @inline(__always)
    private mutating func decode() -> Bool? {
        guard let base = line.baseAddress else { return true }
        let end = base + line.count
        // Local variables stay in registers.
        var source = base + position
        var target = text + written
        // Its top bit is set by control characters and by bytes that are not ASCII.
        var unusual: UInt8 = 0
        defer {
            position = source - base
            written = target - text
        }
        while source < end, source.pointee != UInt8(ascii: "&") {
            let byte = source.pointee
            if byte == UInt8(ascii: "%") {
                guard end - source > 2, let high = hexadecimalDigit(source[1]), let low = hexadecimalDigit(source[2])
                else {
                    badEscape = source - base
                    return nil
                }
                let escaped = high << 4 | low
                unusual |= escaped | (escaped &- 0x20)
                target.pointee = escaped
                source += 3
                target += 1
            } else {
                unusual |= byte | (byte &- 0x20)
                target.pointee = byte
                source += 1
                target += 1
                // Between two escapes there is often a single plain byte; after two plain ones usually many follow.
                if source < end, Self.isPlain(source.pointee) { Self.copyPlain(&source, end, &target) }
            }
        }
        return unusual < 0x80
    }

    @inline(__always)
    private static func isPlain(_ byte: UInt8) -> Bool {
        byte >= 0x20 && byte < 0x80 && byte != UInt8(ascii: "%") && byte != UInt8(ascii: "&")
    }

    /// Copies the bytes that need no decoding, eight at a time.
    @inline(__always)
    private static func copyPlain(
        _ source: inout UnsafePointer<UInt8>,
        _ end: UnsafePointer<UInt8>,
        _ target: inout UnsafeMutablePointer<UInt8>
    ) {
        while end - source >= 8 {
            let word = UnsafeRawPointer(source).loadUnaligned(as: UInt64.self)
            // Copies also the bytes after the plain ones: there is room, and they are overwritten later.
            UnsafeMutableRawPointer(target).storeBytes(of: word, as: UInt64.self)
            let special = Self.special(word)
            let count = special == 0 ? 8 : special.trailingZeroBitCount >> 3
            source += count
            target += count
            if special != 0 { return }
        }
        while source < end, isPlain(source.pointee) {
            target.pointee = source.pointee
            target += 1
            source += 1
        }
    }

    /// The top bit is set in each byte that is `%`, `&`, a control character or not ASCII. In the bytes above such a
    /// byte it may be set wrongly.
    @inline(__always)
    private static func special(_ word: UInt64) -> UInt64 {
        let ones: UInt64 = 0x0101_0101_0101_0101
        let percent = word ^ (ones &* 0x25)
        let and = word ^ (ones &* 0x26)
        let found = (percent &- ones) & ~percent | (and &- ones) & ~and | (word &- ones &* 0x20) & ~word | word
        return found & (ones &* 0x80)
    }

    /// Whether it is UTF-8 without NUL.
    private mutating func isText(_ range: Range<Int>) -> Bool {
        let bytes = UnsafeBufferPointer(start: text + range.lowerBound, count: range.count)
        foundControl = bytes.contains { $0 < 0x20 }
        let hasNUL = bytes.contains(0)
        if !hasNUL, UTF8Text.isValid(bytes) { return true }
        failure = hasNUL ? .nul : .notText
        return false
    }
}

/// Percent-encoding as JavaScript's `encodeURIComponent` and `decodeURIComponent` do it.
public enum PercentEncoding {
    /// The text encoded as a value of a `call?…` line.
    public static func encode(_ text: String) -> String {
        let buffer = OutputBuffer(capacity: text.utf8.count + 16)
        buffer.appendPercentEncoded(text)
        return buffer.text
    }

    /// The decoded text; nil if the bytes have a bad escape or an `&`, or are not valid text. `+` stands for itself.
    static func decode(_ encoded: UnsafeBufferPointer<UInt8>) -> String? {
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: encoded.count) { text in
            guard let base = text.baseAddress else { return "" }
            var decoder = PercentDecoder(encoded, at: 0, to: base)
            guard let range = decoder.value(), decoder.position == encoded.count else { return nil }
            return String(decoding: text[range], as: UTF8.self)
        }
    }
}

extension OutputBuffer {
    /// Appends a text as `encodeURIComponent` writes it.
    func appendPercentEncoded(_ text: String) {
        var text = text
        text.withUTF8 { appendPercentEncoded($0) }
    }
}
