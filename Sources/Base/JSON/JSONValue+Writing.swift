extension JSONValue {
    /// Appends the value as compact JSON in UTF-8, without a line break.
    public func write(to buffer: OutputBuffer) {
        switch self {
        case .null: buffer.append("null")
        case .bool(let value): buffer.append(value ? ("true" as StaticString) : "false")
        case .integer(let value): buffer.append(decimal: value)
        // JSON has no infinity and no NaN; JavaScript writes them as null, too.
        case .number(let value): buffer.append(value.isFinite ? "\(value)" : "null" as String)
        case .string(let value): buffer.append(json: value)
        case .array(let items): Self.write(items, to: buffer)
        case .object(let members): Self.write(members, to: buffer)
        }
    }

    /// The value as compact JSON.
    public var text: String {
        let buffer = OutputBuffer(capacity: 64)
        write(to: buffer)
        return buffer.text
    }

    private static func write(_ items: [JSONValue], to buffer: OutputBuffer) {
        buffer.append(UInt8(ascii: "["))
        var isFirst = true
        for item in items {
            if !isFirst { buffer.append(UInt8(ascii: ",")) }
            isFirst = false
            item.write(to: buffer)
        }
        buffer.append(UInt8(ascii: "]"))
    }

    private static func write(_ members: JSONObject, to buffer: OutputBuffer) {
        buffer.append(UInt8(ascii: "{"))
        var isFirst = true
        for member in members {
            if !isFirst { buffer.append(UInt8(ascii: ",")) }
            isFirst = false
            buffer.append(json: member.name)
            buffer.append(UInt8(ascii: ":"))
            member.value.write(to: buffer)
        }
        buffer.append(UInt8(ascii: "}"))
    }
}

extension OutputBuffer {
    /// Appends a text as a JSON string.
    public func append(json text: String) {
        var text = text
        text.withUTF8 { append(json: $0) }
    }

    /// Appends UTF-8 as a JSON string.
    public func append(json text: UnsafeBufferPointer<UInt8>) {
        append(UInt8(ascii: "\""))
        if text.allSatisfy({ $0 >= 0x20 && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\") }) {
            append(text)
        } else {
            for byte in text { appendEscaped(byte) }
        }
        append(UInt8(ascii: "\""))
    }

    private func appendEscaped(_ byte: UInt8) {
        switch byte {
        case UInt8(ascii: "\""): append("\\\"")
        case UInt8(ascii: "\\"): append("\\\\")
        case 0x08: append("\\b")
        case 0x09: append("\\t")
        case 0x0A: append("\\n")
        case 0x0C: append("\\f")
        case 0x0D: append("\\r")
        case 0..<0x20:
            append("\\u00")
            append(upperHexadecimalDigit(byte >> 4))
            append(upperHexadecimalDigit(byte & 15))
        default: append(byte)
        }
    }

    /// Appends a whole number.
    public func append(decimal number: Int64) {
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 20) { digits in
            var magnitude = number.magnitude
            var start = 20
            repeat {
                start -= 1
                digits[start] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: magnitude % 10)
                magnitude /= 10
            } while magnitude > 0
            if number < 0 {
                start -= 1
                digits[start] = UInt8(ascii: "-")
            }
            append(UnsafeBufferPointer(rebasing: digits[start..<20]))
        }
    }
}

extension JSONValue: CustomStringConvertible {
    /// The value as JSON.
    public var description: String { text }
}
