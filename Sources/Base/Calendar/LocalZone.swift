internal import Glibc

/// What clocks on the wall show: a date, and a time of day.
package struct LocalMoment: Sendable, Hashable {
    package let date: CivilDate
    /// Seconds that the clock shows since 00:00:00, 0…86,399. On a day on which the clock is changed these are not the
    /// seconds that have passed.
    package let secondOfDay: Int
    /// By how many seconds local time is ahead of UTC.
    package let offset: Int

    package var hour: Int { secondOfDay / 3600 }
    /// `2026-11-25 22:00`, with seconds where they are not 0.
    package var text: String { "\(date) \(ScheduleRule.Moment.at(secondOfDay))" }
}

/// The time zone of this process, by libc: `TZ`, else /etc/localtime. Each call looks at them again, so a change is
/// seen. May be used from all threads.
///
/// The lines of the local calendar are drawn so that days never overlap: a day begins at the first moment at which
/// the clock shows its date or a later one, and ends where the next begins. So a day has 23, 24 or 25 hours, begins
/// at 01:00 where the clock is put forward at midnight, and is empty where a date was left out.
///
/// Moments are seconds since 1970-01-01 00:00:00 UTC. Those outside of the years 1…9999 are taken as the first or last
/// second of them.
package struct LocalZone: Sendable {
    /// The first second of year 1 and the last of year 9999, in UTC.
    static let limits: ClosedRange<Int64> = -62_135_596_800...253_402_300_799
    static let day: Int64 = 86_400
    /// No zone is further from UTC: libc reads offsets of less than 25 hours.
    private static let farthest: Int64 = 26 * 3600

    package init() {}

    /// What is wrong with `TZ`; nil if nothing is. libc takes a name that it does not find for UTC.
    package static var problem: String? {
        guard let text = getenv("TZ").map({ String(cString: $0) }) else { return nil }
        let name = text.hasPrefix(":") ? text.dropFirst() : text[...]
        // A rule such as CET-1CEST has digits, and needs no file.
        let isRule = name.isEmpty || name.utf8.contains { (0x30...0x39).contains($0) }
        guard !isRule, access(name.hasPrefix("/") ? String(name) : "/usr/share/zoneinfo/\(name)", R_OK) != 0 else {
            return nil
        }
        return "the environment's TZ is '\(text)', which is no time zone of this device: local times are those of UTC"
    }

    /// What the clock shows at a moment.
    package func moment(at seconds: Int64) -> LocalMoment {
        refresh()
        let seconds = Self.clamped(seconds)
        let offset = offset(at: seconds)
        let (day, second) = Self.split(seconds + offset)
        return LocalMoment(date: CivilDate(dayNumber: day), secondOfDay: second, offset: Int(offset))
    }

    /// The moment at which the clock shows a time for the first time. If it never shows it, since it is put forward
    /// over it, the moment at which it is put forward.
    /// - Parameter secondOfDay: what the clock is to show, 0…86,399; values beyond are taken as the nearest of these.
    package func seconds(of date: CivilDate, secondOfDay: Int) -> Int64 {
        refresh()
        return firstMoment(of: date.dayNumber, secondOfDay: min(max(secondOfDay, 0), 86_399))
    }

    /// The first second of a local day, and that of the next. Empty for a date that was left out, as 2011-12-30 in
    /// Samoa.
    package func dayBounds(of date: CivilDate) -> Range<Int64> {
        refresh()
        return bounds(of: date.dayNumber)
    }

    /// The same of a date as `2026-02-03`; nil if the text is none, or there is no such date.
    package func dayBounds(of text: String) -> Range<Int64>? {
        CivilDate(text).map { dayBounds(of: $0) }
    }

    // MARK: What does not look whether the zone has changed

    /// Makes libc look at `TZ` and /etc/localtime, which localtime_r alone does only once.
    func refresh() { tzset() }

    /// The number of the date that the clock shows.
    func dayNumber(at seconds: Int64) -> Int { Self.split(seconds + offset(at: seconds)).day }

    /// The number of the day in which a moment lies. It is later than the date that the clock shows where the clock has
    /// been put back over midnight.
    func containingDay(of seconds: Int64) -> Int {
        var day = dayNumber(at: seconds)
        while firstMoment(of: day + 1, secondOfDay: 0) <= seconds { day += 1 }
        return day
    }

    func bounds(of dayNumber: Int) -> Range<Int64> {
        let begin = firstMoment(of: dayNumber, secondOfDay: 0)
        // Another thread may have changed the zone in between.
        return begin..<max(begin, firstMoment(of: dayNumber + 1, secondOfDay: 0))
    }

    /// The first moment at which the clock shows at least this date and time.
    ///
    /// mktime(3) is no help: where a time comes twice, or not at all, its answer depends on what it was asked before,
    /// and `tm_isdst` says nothing, as in Dublin winter is the exception.
    func firstMoment(of dayNumber: Int, secondOfDay: Int) -> Int64 {
        let local = Int64(dayNumber) * Self.day + Int64(secondOfDay)
        var begin = local - Self.farthest
        var offset = offset(at: begin)
        var probe = begin
        for _ in 0..<4 {
            let last = probe
            probe += Self.farthest / 2
            let after = self.offset(at: probe)
            guard after != offset else { continue }
            let change = self.change(after: last, through: probe)
            let candidate = max(begin, local - offset)
            if candidate < change { return candidate }
            (begin, offset) = (change, after)
        }
        return max(begin, local - offset)
    }

    static func clamped(_ seconds: Int64) -> Int64 { min(max(seconds, limits.lowerBound), limits.upperBound) }

    /// The first moment with the offset that `end` has, if the offset changes once.
    private func change(after begin: Int64, through end: Int64) -> Int64 {
        var (before, after) = (begin, end)
        let target = offset(at: end)
        while after - before > 1 {
            let middle = before + (after - before) / 2
            if offset(at: middle) == target { after = middle } else { before = middle }
        }
        return after
    }

    /// By how many seconds local time is ahead of UTC.
    private func offset(at seconds: Int64) -> Int64 {
        var (time, parts) = (time_t(seconds), tm())
        guard localtime_r(&time, &parts) != nil else { return 0 }
        return Int64(parts.tm_gmtoff)
    }

    private static func split(_ local: Int64) -> (day: Int, second: Int) {
        let second = local % day
        let positive = second < 0 ? second + day : second
        return (Int((local - positive) / day), Int(positive))
    }
}
