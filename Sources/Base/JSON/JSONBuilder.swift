extension JSONValue {
    /// The value of a text that a ``JSONScanner`` has checked, without white space around it.
    package init(checked bytes: UnsafeBufferPointer<UInt8>) {
        var builder = JSONBuilder(bytes)
        self = builder.value()
    }
}

extension String {
    /// The string in a checked JSON text; nil if it is another kind of value.
    package init?(checkedJSONString bytes: UnsafeBufferPointer<UInt8>) {
        guard bytes.first == UInt8(ascii: "\"") else { return nil }
        self.init(checkedJSON: UnsafeBufferPointer(rebasing: bytes[1..<(bytes.count - 1)]))
    }

    /// The contents of a checked string, given without its quotes.
    package init(checkedJSON bytes: UnsafeBufferPointer<UInt8>) {
        if bytes.contains(UInt8(ascii: "\\")) {
            var builder = JSONBuilder(bytes)
            self = builder.unescaped(to: bytes.count)
        } else {
            self = String(decoding: bytes, as: UTF8.self)
        }
    }

    /// At most the first `most` bytes of a checked string that is longer, cut between characters and between escapes.
    package init(checkedJSONStringStart bytes: UnsafeBufferPointer<UInt8>, atMost most: Int) {
        let most = Swift.max(1, Swift.min(most, bytes.count - 1))
        var end = 1
        // From the front: in a row of backslashes, only that shows where an escape begins.
        while end < most {
            let next = end + Self.unitLength(of: bytes, at: end)
            guard next <= most else { break }
            end = next
        }
        while end > 1, bytes[end] & 0xC0 == 0x80 { end -= 1 }
        self.init(checkedJSON: UnsafeBufferPointer(rebasing: bytes[1..<end]))
    }

    /// The length in bytes of the character or escape at `index`; two escapes that form a surrogate pair count as one.
    private static func unitLength(of bytes: UnsafeBufferPointer<UInt8>, at index: Int) -> Int {
        guard bytes[index] == UInt8(ascii: "\\") else { return 1 }
        guard bytes[index + 1] == UInt8(ascii: "u") else { return 2 }
        let isHighHalf =
            bytes[index + 2] | 0x20 == UInt8(ascii: "d") && "89abAB".utf8.contains(bytes[index + 3])
            && bytes[index + 6] == UInt8(ascii: "\\") && bytes[index + 7] == UInt8(ascii: "u")
        return isHighHalf ? 12 : 6
    }
}

extension UnsafeBufferPointer<UInt8> {
    /// Lends the contents of a checked JSON string; nil if it is another kind of value.
    package func withCheckedJSONString<Result>(_ body: (UnsafeBufferPointer<UInt8>) -> Result) -> Result? {
        guard first == UInt8(ascii: "\"") else { return nil }
        let text = UnsafeBufferPointer(rebasing: self[1..<(count - 1)])
        guard text.contains(UInt8(ascii: "\\")) else { return body(text) }
        var unescaped = String(checkedJSON: text)
        return unescaped.withUTF8(body)
    }
}

/// Builds values from checked bytes, so it has no error cases.
private struct JSONBuilder {
    private let bytes: UnsafeBufferPointer<UInt8>
    private var position = 0

    init(_ bytes: UnsafeBufferPointer<UInt8>) { self.bytes = bytes }

    private var next: UInt8? { position < bytes.count ? bytes[position] : nil }

    mutating func value() -> JSONValue {
        skipWhiteSpace()
        switch JSONKind(firstByte: next) {
        case .object: return .object(object())
        case .array: return .array(array())
        case .string: return .string(string())
        case .number: return number()
        case .boolean:
            let isTrue = next == UInt8(ascii: "t")
            position += isTrue ? 4 : 5
            return .bool(isTrue)
        case .null:
            position += 4
            return .null
        }
    }

    private mutating func object() -> JSONObject {
        var members = JSONObject()
        position += 1
        skipWhiteSpace()
        while let byte = next, byte != UInt8(ascii: "}") {
            let name = string()
            skipWhiteSpace()
            position += 1
            members[name] = value()
            skipSeparator()
        }
        position += 1
        return members
    }

    private mutating func array() -> [JSONValue] {
        var items: [JSONValue] = []
        position += 1
        skipWhiteSpace()
        while let byte = next, byte != UInt8(ascii: "]") {
            items.append(value())
            skipSeparator()
        }
        position += 1
        return items
    }

    private mutating func skipSeparator() {
        skipWhiteSpace()
        guard next == UInt8(ascii: ",") else { return }
        position += 1
        skipWhiteSpace()
    }

    private mutating func skipWhiteSpace() {
        while let byte = next, byte <= 0x20 { position += 1 }
    }

    private mutating func number() -> JSONValue {
        let start = position
        var isInteger = true
        while let byte = next, byte != UInt8(ascii: ","), byte != UInt8(ascii: "]"), byte != UInt8(ascii: "}"),
            byte > 0x20
        {
            if byte == UInt8(ascii: ".") || byte | 0x20 == UInt8(ascii: "e") { isInteger = false }
            position += 1
        }
        let text = String(decoding: bytes[start..<position], as: UTF8.self)
        if isInteger, text != "-0", let integer = Int64(text) { return .integer(integer) }
        return Double(text).map(JSONValue.number) ?? .null
    }

    // MARK: Strings

    private mutating func string() -> String {
        position += 1
        let start = position
        while let byte = next, byte != UInt8(ascii: "\"") { position += byte == UInt8(ascii: "\\") ? 2 : 1 }
        let end = min(position, bytes.count)
        position = end + 1
        return String(checkedJSON: UnsafeBufferPointer(rebasing: bytes[start..<end]))
    }

    mutating func unescaped(to end: Int) -> String {
        var text: [UInt8] = []
        text.reserveCapacity(end)
        while position < end {
            let byte = bytes[position]
            position += 1
            if byte == UInt8(ascii: "\\") { unescape(into: &text) } else { text.append(byte) }
        }
        return String(decoding: text, as: UTF8.self)
    }

    private mutating func unescape(into text: inout [UInt8]) {
        guard let kind = next else { return }
        position += 1
        switch kind {
        case UInt8(ascii: "b"): text.append(0x08)
        case UInt8(ascii: "f"): text.append(0x0C)
        case UInt8(ascii: "n"): text.append(0x0A)
        case UInt8(ascii: "r"): text.append(0x0D)
        case UInt8(ascii: "t"): text.append(0x09)
        case UInt8(ascii: "u"): text.append(contentsOf: String(Character(scalar())).utf8)
        default: text.append(kind)
        }
    }

    private mutating func scalar() -> Unicode.Scalar {
        let first = codeUnit()
        if let scalar = Unicode.Scalar(first) { return scalar }
        // The second half of the pair is there: the scanner has checked it.
        position += 2
        return UTF16.decode(UTF16.EncodedScalar([first, codeUnit()]))
    }

    private mutating func codeUnit() -> UInt16 {
        var unit: UInt16 = 0
        for _ in 0..<4 {
            unit = unit << 4 | UInt16(next.flatMap(hexadecimalDigit) ?? 0)
            position += 1
        }
        return unit
    }
}
