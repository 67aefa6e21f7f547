internal import Linux
internal import QuickConnect
internal import Synchronization

/// A connection that another thread makes while this one sleeps on a waker.
final class Connecting: Sendable {
    enum Outcome: Sendable {
        case stream(any ReportStream)
        case unreachable(Unreachable)
        /// It takes too long, or an earlier attempt still does.
        case givenUp(CommandError)
    }

    private let waker: Waker
    private let settled = Mutex<Outcome?>(nil)

    init(_ waker: Waker) { self.waker = waker }

    /// The first outcome counts. A stream that comes later is released.
    func settle(_ outcome: Outcome) {
        settled.withLock { if $0 == nil { $0 = outcome } }
        waker.wake()
    }

    var outcome: Outcome? { settled.withLock { $0 } }
}

/// The delay before the next attempt.
struct BackOff {
    private var seconds = 0.0
    var hasFailed: Bool { seconds > 0 }

    private static let shortest = 0.2
    private static let longest = 1.0

    /// Waits, longer each time, until that is no longer wanted.
    mutating func wait(_ waker: Waker, while isWanted: () -> Bool) {
        seconds = min(Self.longest, max(Self.shortest, seconds * 2))
        let end = ContinuousClock.now + .seconds(seconds)
        while ContinuousClock.now < end, isWanted() { _ = waker.sleep(until: end) }
    }
}
