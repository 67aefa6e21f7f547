package import Glibc

/// The time of day, which anybody may set.
package enum WallClock {
    /// Seconds since 1970.
    package static var now: Double { KernelClock.seconds(of: CLOCK_REALTIME) }
}

/// The clocks of clock_gettime(2).
package enum KernelClock {
    /// What a clock shows.
    package static func seconds(of clock: clockid_t) -> Double {
        var time = timespec()
        clock_gettime(clock, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) * 1e-9
    }
}
