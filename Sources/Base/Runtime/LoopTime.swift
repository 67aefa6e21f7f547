internal import Glibc

/// A moment of the clock that loops go by (CLOCK_MONOTONIC), in nanoseconds. Asking it costs a fifth of what asking
/// `ContinuousClock` costs, and it is asked with each batch of lines.
package struct LoopTime: Comparable, Sendable {
    package let nanoseconds: UInt64

    package init(nanoseconds: UInt64) { self.nanoseconds = nanoseconds }

    package static func now() -> LoopTime {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return LoopTime(nanoseconds: UInt64(time.tv_sec) &* 1_000_000_000 &+ UInt64(time.tv_nsec))
    }

    package static func < (one: LoopTime, other: LoopTime) -> Bool { one.nanoseconds < other.nanoseconds }

    package static func + (time: LoopTime, span: LoopSpan) -> LoopTime {
        LoopTime(nanoseconds: time.nanoseconds &+ UInt64(max(span.nanoseconds, 0)))
    }

    package static func - (end: LoopTime, begin: LoopTime) -> LoopSpan {
        .nanoseconds(Int64(bitPattern: end.nanoseconds &- begin.nanoseconds))
    }
}

/// A length of time, in nanoseconds.
package struct LoopSpan: Comparable, Sendable {
    package let nanoseconds: Int64

    package init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

    package init(_ time: Duration) {
        let (seconds, attoseconds) = time.components
        nanoseconds = seconds * 1_000_000_000 + attoseconds / 1_000_000_000
    }

    package static let zero = LoopSpan(nanoseconds: 0)

    package static func nanoseconds(_ count: Int64) -> LoopSpan { LoopSpan(nanoseconds: count) }
    package static func microseconds(_ count: Int64) -> LoopSpan { LoopSpan(nanoseconds: count * 1_000) }
    package static func milliseconds(_ count: Int64) -> LoopSpan { LoopSpan(nanoseconds: count * 1_000_000) }
    package static func seconds(_ count: Int64) -> LoopSpan { LoopSpan(nanoseconds: count * 1_000_000_000) }

    package static func < (one: LoopSpan, other: LoopSpan) -> Bool { one.nanoseconds < other.nanoseconds }

    package static func + (one: LoopSpan, other: LoopSpan) -> LoopSpan {
        .nanoseconds(one.nanoseconds + other.nanoseconds)
    }
}
