extension String {
    /// The bytes as text, where they are UTF-8.
    package init?(validating bytes: borrowing Span<UInt8>) {
        let text = bytes.withUnsafeBufferPointer { bytes in
            // Most text is ASCII, and of that the standard library makes a string much faster without this check.
            bytes.allSatisfy { $0 < 0x80 }
                ? String(decoding: bytes, as: UTF8.self) : String(validating: bytes, as: UTF8.self)
        }
        guard let text else { return nil }
        self = text
    }

    /// The bytes as text; what is not UTF-8 becomes U+FFFD.
    package init(decoding bytes: borrowing Span<UInt8>) {
        self = bytes.withUnsafeBufferPointer { String(decoding: $0, as: UTF8.self) }
    }
}

extension [UInt8] {
    /// Appends a text of the source code.
    package mutating func append(_ text: StaticString) {
        append(contentsOf: UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }

    package mutating func append(copying bytes: borrowing Span<UInt8>) {
        bytes.withUnsafeBufferPointer { append(contentsOf: $0) }
    }
}

extension Span<UInt8> {
    /// The index of the first such byte at or after `start`.
    package func firstIndex(of byte: UInt8, from start: Int = 0) -> Int? {
        var index = start
        while index < count {
            if self[unchecked: index] == byte { return index }
            index += 1
        }
        return nil
    }

    /// Whether the bytes begin with an ASCII text.
    package func starts(with text: StaticString) -> Bool {
        let length = text.utf8CodeUnitCount
        guard count >= length else { return false }
        for index in 0..<length where self[unchecked: index] != text.utf8Start[index] { return false }
        return true
    }
}

/// The value of a hexadecimal digit.
package func hexadecimalDigit(_ byte: UInt8) -> UInt8? {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
    case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
    default: nil
    }
}
