/// When a refused connection is worth a line in the log: once in ten seconds, since a flood of them says nothing more.
package struct RefusalNews: Sendable {
    private static let pause = Duration.seconds(10)

    private var last: ContinuousClock.Instant?

    package init() {}

    /// Whether this refusal is to be logged; if so, none is for the next ten seconds.
    package mutating func take(at now: ContinuousClock.Instant = .now) -> Bool {
        guard last.map({ $0 + Self.pause < now }) ?? true else { return false }
        last = now
        return true
    }
}
