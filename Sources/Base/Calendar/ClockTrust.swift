internal import Glibc

/// What the clocks show, in milliseconds.
package struct ClockReading: Sendable, Equatable {
    /// Since 1970, by the wall clock, which anybody may set.
    package var wall: Int64
    /// Since the boot, also while the machine slept, which nobody can set.
    package var boot: Int64

    package init(wall: Int64, boot: Int64) { (self.wall, self.boot) = (wall, boot) }

    package static var now: ClockReading {
        func milliseconds(_ clock: clockid_t) -> Int64 {
            var time = timespec()
            clock_gettime(clock, &time)
            return Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec / 1_000_000)
        }
        return ClockReading(wall: milliseconds(CLOCK_REALTIME), boot: milliseconds(CLOCK_BOOTTIME))
    }
}

/// Whether the wall clock may be believed where much depends on it, such as deleting what is old. A Raspberry Pi has no
/// clock that goes on without power, and shows 1970, or when it was switched off, until a server has told it the time.
package struct ClockTrust: Sendable {
    /// No clock that is right shows an earlier time: 2025-01-01.
    package static let earliest: Int64 = 1_735_689_600_000
    /// The most that a clock is set by without doubt.
    private static let step: Int64 = 86_400_000
    /// How long a clock has to go on undisturbed before it is believed anew.
    private static let rest: Int64 = 86_400_000

    /// Wall clock minus time since the boot, when it was believed; nil until it has shown a possible time.
    private var believed: Int64?
    private var last: Int64
    /// When it was set by more than a step last; at first, when it was looked at first.
    private var setAt: Int64

    package init(_ now: ClockReading) {
        last = now.wall - now.boot
        setAt = now.boot
        if now.wall >= Self.earliest { believed = last }
    }

    /// Whether it has gone on undisturbed for a day: then it is believed, whatever it shows.
    package func hasRested(at now: ClockReading) -> Bool { now.boot - setAt >= Self.rest }

    /// Looks at the clock again, which is to be done about once a minute.
    /// - Returns: by how many milliseconds it is off from what was believed, if that is too much; 0 if it shows no possible
    ///   time; nil if it is believed.
    package mutating func doubt(at now: ClockReading) -> Int64? {
        let offset = now.wall - now.boot
        if abs(offset - last) > Self.step { setAt = now.boot }
        last = offset
        guard now.wall >= Self.earliest else { return 0 }
        if let believed, abs(offset - believed) > Self.step, !hasRested(at: now) { return offset - believed }
        believed = offset
        return nil
    }
}
