import Concurrency
internal import QuickConnect

/// A caller that waits for a position.
final class Waiter: @unchecked Sendable {
    // Sendable because everything mutable is only accessed while the provider's state is locked.
    let caller: Caller
    let promise = Promise<Position>()
    private let wish: PositionWish
    /// The best position so far.
    private var candidate: (position: Position, since: ContinuousClock.Instant)?
    /// Whether a connection was lost while it waited.
    var hasLost = false

    /// How long a position without altitude is held back: at first a receiver's fix comes in parts, the altitude last.
    private static let grace = Duration.milliseconds(500)

    init(_ wish: PositionWish, _ caller: Caller) {
        self.wish = wish
        self.caller = caller
    }

    /// - Parameter now: the time in seconds since 1970.
    func take(_ position: Position, at now: Double) {
        let age = position.age(at: now)
        let isFresh = abs(age) <= PositionWish.freshness
        let isYoung = wish.maximumAge == .infinity || (age >= 0 && age <= wish.maximumAge)
        guard isFresh || isYoung, !wish.needsAltitude || position.altitude != nil else { return }
        candidate = (position, position.altitude == nil ? candidate?.since ?? .now : .now - Self.grace)
    }

    /// The position to return now.
    var answer: Position? {
        candidate.flatMap { $0.since + Self.grace <= .now ? $0.position : nil }
    }

    /// When the best position so far can be returned, if there is one.
    var answerTime: ContinuousClock.Instant? { candidate.map { $0.since + Self.grace } }
}
