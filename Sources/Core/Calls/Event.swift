public import JSON

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
