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

extension Backoff {
    /// Waits, longer each time, until that is no longer wanted.
    mutating func wait(_ waker: Waker, while isWanted: () -> Bool) {
        let end = ContinuousClock.now + failed()
        while ContinuousClock.now < end, isWanted() { _ = waker.sleep(until: end) }
    }
}
