/// How long to wait before the next attempt to reach the broker: random within a time that doubles, so that a fleet
/// does not reconnect all at once after an outage.
package struct ReconnectPause: Sendable {
    private let first: Duration
    private var within: Duration

    private static let shortest = Duration.seconds(1)
    private static let longest = Duration.seconds(300)
    /// A connection that is lost sooner counts as a failure: another client may have taken this one's name.
    package static let lasting = Duration.seconds(60)

    /// - Parameter first: the longest that the first pause may be.
    package init(within first: Duration = .seconds(30)) { (self.first, within) = (first, first) }

    /// The broker was not reached, or lost sooner than ``lasting``.
    package mutating func failed(using generator: inout some RandomNumberGenerator) -> Duration {
        defer { within = min(within * 2, max(Self.longest, first)) }
        let shortest = min(Self.shortest, within / 2)
        return shortest + (within - shortest) * Double.random(in: 0...1, using: &generator)
    }

    /// A connection has ended that lasted.
    package mutating func lost(
        after age: Duration,
        using generator: inout some RandomNumberGenerator
    ) -> Duration {
        if age >= Self.lasting { within = first }
        return failed(using: &generator)
    }
}
