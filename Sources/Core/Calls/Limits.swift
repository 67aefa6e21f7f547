import JSON

/// The limits on what one connection, and all connections together, may ask of the daemon. All are settings unless
/// noted.
public struct Limits: Sendable, Hashable {
    /// The longest received line, in bytes without its line break. A longer one is skipped and answered `tooLarge`.
    public var lineBytes = 4 << 20
    /// How deep arrays and objects may be nested in a received line.
    public var depth = JSONParser.defaultDepth
    /// Connections at the same time. Each user has a share of it, and some are kept for root and the daemon's user.
    public var connections = 1024
    /// Waiting calls of one connection; one more gets `overloaded`.
    public var callsPerConnection = 1024
    /// Handlers that one connection may register; one more gets `overloaded`.
    public var handlersPerConnection = 1024
    /// Events that one connection may subscribe to; one more gets `overloaded`.
    public var subscriptionsPerConnection = 1024
    /// Bytes of replies that wait for a client that does not read; a client with more is dropped.
    public var replyBytes = 16 << 20
    /// Bytes that are kept for all clients together: unfinished lines, waiting calls, unread replies, subscriptions. Each
    /// user has a share of it.
    public var keptBytes = 48 << 20
    /// Seconds after which a client is dropped that reads nothing of what waits for it.
    public var stalledSeconds = 30.0
    /// Seconds that running calls have to finish when the daemon stops.
    public var shutdownSeconds = 5.0

    /// The longest `id` or `callbackId`, in bytes. Part of the protocol, so not a setting.
    public static let idBytes = 128
    /// The longest name of a handler or of an event, in bytes. Not a setting either.
    public static let nameBytes = 128

    /// The default limits.
    public init() {}
}
