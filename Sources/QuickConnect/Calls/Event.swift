public import JSON

/// A value that was not asked for by a call: a sensor's, or another client's `post`.
public struct Event: Sendable, Equatable {
    public enum Kind: Sendable {
        /// For a slow client, the newest value replaces older ones that still wait.
        case sensor
        /// Each one is delivered.
        case message
    }

    public var name: String
    public var message: Message
    public var kind: Kind

    public init(_ name: String, _ message: Message, kind: Kind) {
        self.name = name
        self.message = message
        self.kind = kind
    }

    public init(_ name: String, _ value: JSONValue, kind: Kind) { self.init(name, .value(value), kind: kind) }

    /// The same, its value written: what goes to many is not worked out for each.
    var written: Event {
        guard case .value(let value) = message else { return self }
        let bytes = SharedBytes(value.text)
        return Event(name, .text(JSONText(checked: bytes, 0..<bytes.count)), kind: kind)
    }
}
