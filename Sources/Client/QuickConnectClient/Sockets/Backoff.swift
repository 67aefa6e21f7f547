/// How long to wait before the next attempt to connect: longer each time, until a connection lasts.
public struct Backoff: Sendable {
    private static let shortest = Duration.milliseconds(50)
    private static let longest = Duration.seconds(5)
    /// A connection that is lost sooner counts as a failure, so that a daemon that refuses this client is not asked all
    /// the time.
    private static let lasting = Duration.seconds(1)

    private var pause = Self.shortest

    /// Starts with the shortest wait.
    public init() {}

    /// No daemon has answered.
    public mutating func failed() -> Duration {
        defer { pause = min(pause * 2, Self.longest) }
        return pause
    }

    /// A connection was lost.
    /// - Parameter age: how long it lasted.
    public mutating func lost(after age: Duration) -> Duration {
        if age >= Self.lasting { pause = Self.shortest }
        return failed()
    }
}
