import JSON

/// The bounds of what one connection, and all of them, may ask of the daemon. All of them are settings.
public struct Limits: Sendable, Hashable {
    /// The longest received line, in bytes without its line break. A longer one is skipped and answered `tooLarge`.
    public var lineBytes = 4 << 20
    /// Arrays and objects inside each other in a received line.
    public var depth = JSONParser.defaultDepth
    /// Connections at once.
    public var connections = 1024
    /// Waiting calls under way for each connection; one more is `overloaded`.
    public var callsPerConnection = 1024
    /// Handlers that one connection may register; one more is `overloaded`.
    public var handlersPerConnection = 1024
    /// Events that one connection may subscribe to; one more is `overloaded`.
    public var subscriptionsPerConnection = 1024
    /// Bytes of replies that wait for a client that does not read; with more it is dropped.
    public var replyBytes = 16 << 20
    /// Seconds after which a client that reads nothing of what waits for it is dropped.
    public var stalledSeconds = 30.0
    /// Seconds that calls under way have when the daemon stops.
    public var shutdownSeconds = 5.0

    /// The longest `id` or `callbackId`, in bytes. Part of the protocol, so no setting.
    public static let idBytes = 128
    /// The longest name of a handler or of an event, in bytes. As `idBytes`.
    public static let nameBytes = 128

    /// The limits of a daemon whose settings say nothing.
    public init() {}
}
