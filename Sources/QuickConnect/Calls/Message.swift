public import JSON

/// What a call, a reply or an event carries, the `message` of `makeCall(command, message)`: JSON, as a value, or as the
/// bytes that it came as. What is only passed on is never built.
public enum Message: Sendable {
    case value(JSONValue)
    case text(JSONText)

    public static let null = Message.value(.null)

    /// The value; built anew each time where it came as text.
    public var value: JSONValue {
        switch self {
        case .value(let value): value
        case .text(let text): text.value
        }
    }

    public var isNull: Bool {
        switch self {
        case .value(let value): value == .null
        case .text(let text): text.isNull
        }
    }

    public var stringValue: String? {
        switch self {
        case .value(let value): value.stringValue
        case .text(let text): text.stringValue
        }
    }

    /// The value for people, cut off at about that many bytes: a string's own text, anything else as JSON.
    public func excerpt(atMost bytes: Int) -> String {
        if case .text(let text) = self, text.count > bytes {
            return text.withBytes { all in
                let part = UnsafeBufferPointer(rebasing: all.prefix(bytes))
                guard text.kind == .string else { return String(decoding: part, as: UTF8.self) + "…" }
                return Self.start(ofString: part) + "…"
            }
        }
        let whole = stringValue ?? value.text
        return whole.utf8.count <= bytes ? whole : String(decoding: whole.utf8.prefix(bytes), as: UTF8.self) + "…"
    }

    /// The beginning of a JSON string that is cut off, perhaps within an escape.
    private static func start(ofString part: UnsafeBufferPointer<UInt8>) -> String {
        guard part.count > 1 else { return "" }
        var end = part.count
        let tail = part.suffix(12)
        if let escape = tail.lastIndex(of: UInt8(ascii: "\\")) { end = escape }
        while end > 1, part[end - 1] == UInt8(ascii: "\\") { end -= 1 }
        return String(checkedJSON: UnsafeBufferPointer(rebasing: part[1..<max(1, end)]))
    }

    /// Appends it as JSON.
    public func write(to buffer: OutputBuffer) {
        switch self {
        case .value(let value): value.write(to: buffer)
        case .text(let text): buffer.append(text, as: .plain)
        }
    }
}

extension Message: Equatable {
    /// Whether both are the same JSON value.
    public static func == (one: Message, other: Message) -> Bool { one.value == other.value }
}
