/// How long to wait before the next attempt: longer each time, until a connection lasts.
package struct Backoff: Sendable {
    private let first: Duration
    private let max: Duration
    private let growth: Double
    private var pause: Duration?

    /// A connection that is lost sooner counts as a failure, so that a service that refuses this client is not asked all
    /// the time.
    private static let lasting = Duration.seconds(1)

    /// Starts with the shortest wait, which grows up to `max`.
    package init(first: Duration, max: Duration, growth: Double = 2) {
        self.first = first
        self.max = max
        self.growth = growth
    }

    /// For the daemon: from 50 ms to 5 s, each a tenth longer. So a client is away for little longer than a daemon that is
    /// restarted.
    package init() { self.init(first: .milliseconds(50), max: .seconds(5), growth: 1.1) }

    /// Whether an attempt has failed since the last one that lasted.
    package var hasFailed: Bool { pause != nil }

    /// The wait after an attempt that failed.
    package mutating func failed() -> Duration {
        let next = pause.map { min($0 * growth, max) } ?? first
        pause = next
        return next
    }

    /// The wait after a connection was lost.
    /// - Parameter age: how long it lasted.
    package mutating func lost(after age: Duration) -> Duration {
        if age >= Self.lasting { pause = nil }
        return failed()
    }

    /// The wait after an attempt that failed, between half and all of it, so that devices differ.
    package mutating func failed(by generator: inout some RandomNumberGenerator) -> Duration {
        failed() * Double.random(in: 0.5...1, using: &generator)
    }
}
