/// Limits what is written, such as lines of a log, to an amount in a period, and counts what was dropped.
package struct LineLimit: Sendable {
    package typealias Instant = ContinuousClock.Instant

    private let max: Int
    private let period: Duration
    /// The beginning of the period, which is that of the first line in it.
    private var since: Instant?
    private var taken = 0
    /// Dropped lines that have not been reported yet.
    private var untold = 0
    /// All lines that were dropped.
    package private(set) var dropped = 0

    package init(_ max: Int, in period: Duration) { (self.max, self.period) = (max, period) }

    /// For refused connections: a flood of them says nothing more.
    package static let refusals = LineLimit(1, in: .seconds(10))

    /// Whether a line of that amount may be written.
    package mutating func takes(_ amount: Int = 1, at now: Instant = .now) -> Bool {
        if isOver(at: now) { (since, taken) = (now, 0) }
        guard taken + amount <= max else {
            untold += 1
            dropped += 1
            return false
        }
        taken += amount
        return true
    }

    /// How many lines were dropped, once their period has passed.
    package mutating func takeUntold(at now: Instant = .now) -> Int? {
        guard untold > 0, isOver(at: now) else { return nil }
        defer { untold = 0 }
        return untold
    }

    /// When that can be reported.
    package var tellsAt: Instant? { untold > 0 ? since.map { $0 + period } : nil }

    package func isOver(at now: Instant) -> Bool { since.map { now - $0 >= period } ?? true }
}
