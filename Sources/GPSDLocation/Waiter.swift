import Concurrency
internal import QuickConnect

/// A caller who waits for a position.
final class Waiter: @unchecked Sendable {
    // Sendable because all that changes is only touched while the provider's state is locked.
    let caller: Caller
    let promise = Promise<Position>()
    private let wish: PositionWish
    /// The best there is so far.
    private var candidate: (position: Position, since: ContinuousClock.Instant)?
    /// Whether a connection was lost while it waited.
    var hasLost = false

    /// How long a position without altitude is held back: in its first moments a receiver's fix comes in parts, first
    /// without the altitude.
    private static let grace = Duration.milliseconds(500)

    init(_ wish: PositionWish, _ caller: Caller) {
        self.wish = wish
        self.caller = caller
    }

    /// - Parameter now: seconds since 1970.
    func take(_ position: Position, at now: Double) {
        let age = position.age(at: now)
        let isFresh = abs(age) <= PositionWish.freshness
        let isYoung = wish.maximumAge == .infinity || (age >= 0 && age <= wish.maximumAge)
        guard isFresh || isYoung, !wish.needsAltitude || position.altitude != nil else { return }
        candidate = (position, position.altitude == nil ? candidate?.since ?? .now : .now - Self.grace)
    }

    /// What it can be given now.
    var answer: Position? {
        candidate.flatMap { $0.since + Self.grace <= .now ? $0.position : nil }
    }

    /// When it can be given what there is, if there is anything.
    var answerTime: ContinuousClock.Instant? { candidate.map { $0.since + Self.grace } }
}
