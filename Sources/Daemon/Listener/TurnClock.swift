internal import CLinux
import NIOCore

/// Whether a turn is over, asked after each call.
///
/// Asking the clock takes half as long as a small call. So the processor's counter is asked first, which takes a tenth of
/// that: the clock is, when some microseconds may have passed, and each so many times in case the counter stands still.
struct TurnClock {
    private let end: NIODeadline
    private var last = qc_ticks()
    private var count = 0

    private static let few = qc_few_ticks()
    private static let maxUnasked = 64

    init(_ end: NIODeadline) { self.end = end }

    /// Whether it is over. Never at the first time: each turn does something.
    var isOver: Bool {
        @inline(__always)
        mutating get {
            count += 1
            let ticks = qc_ticks()
            guard ticks &- last >= Self.few || count > Self.maxUnasked else { return false }
            let isFirst = count == 1
            (last, count) = (ticks, 1)
            return !isFirst && NIODeadline.now() >= end
        }
    }
}
