public import JSON

/// What a call, a reply or an event carries, the `message` of `makeCall(command, message)`: JSON, either as a value or
/// as the bytes it was received as. What is only passed on is never built.
public enum Message: Sendable {
    case value(JSONValue)
    case text(JSONText)

    /// The empty message.
    public static let null = Message.value(.null)

    /// The value; built anew each time if it came as text.
    public var value: JSONValue {
        switch self {
        case .value(let value): value
        case .text(let text): text.value
        }
    }

    /// Whether it is JSON's null.
    public var isNull: Bool {
        switch self {
        case .value(let value): value == .null
        case .text(let text): text.isNull
        }
    }

    /// The text, if it is a string.
    public var stringValue: String? {
        switch self {
        case .value(let value): value.stringValue
        case .text(let text): text.stringValue
        }
    }

    /// The value for people, cut at about that many bytes: a string's text, anything else as JSON.
    public func excerpt(atMost bytes: Int) -> String {
        if case .text(let text) = self, text.count > bytes {
            return text.withBytes { all in
                if text.kind == .string { return String(checkedJSONStringStart: all, atMost: bytes) + "…" }
                return String(decoding: all.prefix(bytes), as: UTF8.self) + "…"
            }
        }
        let whole = stringValue ?? value.text
        return whole.utf8.count <= bytes ? whole : String(decoding: whole.utf8.prefix(bytes), as: UTF8.self) + "…"
    }

    /// A short description of the value, for messages that say what came: `the number 7`.
    public var gist: String {
        switch self {
        case .value(let value): value.gist
        case .text(let text): text.gist
        }
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

/// A value that no call asked for: a sensor's, or another client's `post`.
public struct Event: Sendable, Equatable {
    /// Whether a newer event may replace this one while it waits for a slow client.
    public enum Kind: Sendable {
        /// A newer value replaces an older one that still waits for a slow client.
        case sensor
        /// Each one is delivered.
        case message
    }

    /// The event's name.
    public var name: String
    /// Its value.
    public var message: Message
    /// Whether a newer one may replace it.
    public var kind: Kind

    /// An event with a value that may be text that has not been decoded.
    public init(_ name: String, _ message: Message, kind: Kind) {
        self.name = name
        self.message = message
        self.kind = kind
    }

    /// An event with a value.
    public init(_ name: String, _ value: JSONValue, kind: Kind) { self.init(name, .value(value), kind: kind) }

    /// The same, with its value as text: an event for many clients is encoded only once.
    var written: Event {
        guard case .value(let value) = message else { return self }
        let bytes = SharedBytes(value.text)
        return Event(name, .text(JSONText(checked: bytes, 0..<bytes.count)), kind: kind)
    }
}
