/// Short descriptions of JSON values, for messages that say what came: `the number 7`, `the string "abc"`, `an empty
/// array`, `an object`. However large a value is, its description has at most about sixty bytes and takes constant
/// time.
package enum JSONGist {
    /// The most bytes of JSON that are shown.
    static let maxBytes = 40

    /// - Parameter bytes: a checked JSON text, without white space around it.
    package static func text(checked bytes: UnsafeBufferPointer<UInt8>) -> String {
        let kind = JSONKind(firstByte: bytes.first)
        // An escape of six bytes may be one character.
        if bytes.count <= (kind == .string ? 8 * maxBytes : maxBytes) { return text(JSONValue(checked: bytes)) }
        switch kind {
        case .string: return string(String(checkedJSONStringStart: bytes, atMost: 8 * maxBytes), isWhole: false)
        case .number: return "a number of \(bytes.count) characters"
        case .array: return "an array"
        case .object: return "an object"
        case .boolean, .null: return text(JSONValue(checked: bytes))
        }
    }

    static func text(_ value: JSONValue) -> String {
        switch value {
        case .null, .bool: return value.text
        case .integer: return "the number \(value.text)"
        case .number(let number): return number.isFinite ? "the number \(value.text)" : "a number that is too large"
        case .string(let text): return string(text, isWhole: true)
        case .array(let items):
            if items.isEmpty { return "an empty array" }
            return isShort(value) ? "the array \(value.text)" : "an array"
        case .object(let members):
            if members.isEmpty { return "an empty object" }
            return isShort(value) ? "the object \(value.text)" : "an object"
        }
    }

    private static func string(_ text: String, isWhole: Bool) -> String {
        if text.isEmpty, isWhole { return "an empty string" }
        // A control character takes up to six bytes as JSON, so the bytes are limited as well as the characters.
        var room = maxBytes
        let shown = text.unicodeScalars.prefix { scalar in
            room -= scalar.value < 0x20 ? 6 : scalar.utf8.count
            return room >= 0
        }
        let isCut = !isWhole || shown.endIndex < text.unicodeScalars.endIndex
        return "the string \(JSONValue.string("\(Substring(shown))\(isCut ? "…" : "")").text)"
    }

    private static func isShort(_ value: JSONValue) -> Bool {
        var room = maxBytes
        return takes(value, &room)
    }

    /// Whether the JSON text of a value fits into `room` bytes. Stops as soon as it does not.
    private static func takes(_ value: JSONValue, _ room: inout Int) -> Bool {
        switch value {
        case .null, .bool, .integer, .number: room -= value.text.utf8.count
        case .string(let text): room -= text.utf8.count > room ? room + 1 : value.text.utf8.count
        case .array(let items):
            room -= 2
            for item in items { guard room > 0, takes(item, &room) else { return false } }
        case .object(let members):
            room -= 2
            for member in members {
                room -= member.name.utf8.count + 4
                guard room > 0, takes(member.value, &room) else { return false }
            }
        }
        return room >= 0
    }
}

extension JSONValue {
    /// A short description of the value, for messages: `the number 7`. At most about sixty bytes.
    public var gist: String { JSONGist.text(self) }
}

extension JSONText {
    /// A short description of the value, for messages: `the number 7`. At most about sixty bytes.
    public var gist: String { withBytes { JSONGist.text(checked: $0) } }
}
