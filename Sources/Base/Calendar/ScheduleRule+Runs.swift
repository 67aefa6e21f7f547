/// When a rule runs. Moments are seconds since 1970-01-01 00:00:00 UTC; those outside of the years 1…9999 are taken
/// as the first or last second of them, and there are no runs outside of these years.
extension ScheduleRule {
    /// Degrees, north and east positive: -90…90, -180…180.
    package typealias Place = (latitude: Double, longitude: Double)

    /// Each weekday has each date of 1…31 within this many days.
    private static let daysToLookThrough = 5 * 366
    /// At least one is enough where the sun rises and sets once a year.
    private static let sunEventsToLookAt = 400

    /// The first run after a moment; nil if there is none: the rule cannot run, or needs a position and has none, or
    /// the sun neither rises nor sets there on one of its days for 400 days.
    package func next(after seconds: Int64, in zone: LocalZone = LocalZone(), at place: Place?) -> Int64? {
        guard canRun, seconds < LocalZone.limits.upperBound else { return nil }
        zone.refresh()
        let seconds = LocalZone.clamped(seconds)
        let run: Int64? =
            switch moment {
            case .at(let second): nextTime(second, after: seconds, in: zone)
            case .every(let interval): nextStep(Int64(interval), after: seconds, in: zone)
            case .sun(let event, let offset):
                nextSun(event, Int64(offset), after: seconds, in: zone, at: place)
            }
        return run.flatMap { $0 <= LocalZone.limits.upperBound ? $0 : nil }
    }

    /// The last run that is after one moment, and not after another; nil if there is none. It takes no longer for a
    /// year than for a minute.
    package func last(
        after begin: Int64,
        through end: Int64,
        in zone: LocalZone = LocalZone(),
        at place: Place?
    ) -> Int64? {
        guard canRun, begin < end, end >= LocalZone.limits.lowerBound else { return nil }
        zone.refresh()
        let end = LocalZone.clamped(end)
        let run: Int64? =
            switch moment {
            case .at(let second): lastTime(second, through: end, in: zone)
            case .every(let interval): lastStep(Int64(interval), through: end, in: zone)
            case .sun(let event, let offset):
                lastSun(event, Int64(offset), after: begin, through: end, in: zone, at: place)
            }
        return run.flatMap { $0 > begin && $0 >= LocalZone.limits.lowerBound ? $0 : nil }
    }

    // MARK: A time of day

    private func nextTime(_ second: Int, after begin: Int64, in zone: LocalZone) -> Int64? {
        let filter = DayFilter(self)
        let first = zone.dayNumber(at: begin)
        for day in first..<first + Self.daysToLookThrough where filter.allows(day) {
            let run = zone.firstMoment(of: day, secondOfDay: second)
            if run > begin { return run }
        }
        return nil
    }

    private func lastTime(_ second: Int, through end: Int64, in zone: LocalZone) -> Int64? {
        let filter = DayFilter(self)
        // The clock may have been put back over midnight, or forward over the time of a later day.
        let last = zone.dayNumber(at: end) + 1
        for day in (last - Self.daysToLookThrough...last).reversed() where filter.allows(day) {
            let run = zone.firstMoment(of: day, secondOfDay: second)
            if run <= end { return run }
        }
        return nil
    }

    // MARK: Steps from the begin of the day

    private func nextStep(_ interval: Int64, after begin: Int64, in zone: LocalZone) -> Int64? {
        let filter = DayFilter(self)
        let first = zone.containingDay(of: begin)
        for day in first..<first + Self.daysToLookThrough where filter.allows(day) {
            let bounds = zone.bounds(of: day)
            let run =
                begin < bounds.lowerBound
                ? bounds.lowerBound : begin + interval - (begin - bounds.lowerBound) % interval
            if bounds.contains(run) { return run }
        }
        return nil
    }

    private func lastStep(_ interval: Int64, through end: Int64, in zone: LocalZone) -> Int64? {
        let filter = DayFilter(self)
        let last = zone.containingDay(of: end)
        for day in (last - Self.daysToLookThrough...last).reversed() where filter.allows(day) {
            let bounds = zone.bounds(of: day)
            let latest = min(end, bounds.upperBound - 1)
            if latest >= bounds.lowerBound { return latest - (latest - bounds.lowerBound) % interval }
        }
        return nil
    }

    // MARK: The sun

    private func nextSun(
        _ event: SunEvent,
        _ offset: Int64,
        after begin: Int64,
        in zone: LocalZone,
        at place: Place?
    ) -> Int64? {
        guard let place, let sun = Sun(latitude: place.latitude, longitude: place.longitude) else { return nil }
        var search = SunSearch(event: event, sun: sun, zone: zone, filter: DayFilter(self))
        // An event lies at most a day and a half after the begin of its solar day's number.
        let first = Int((begin - offset) / LocalZone.day) - 3
        for day in first..<first + Self.daysToLookThrough {
            if let time = search.time(on: day), time + offset > begin { return time + offset }
            if search.count > Self.sunEventsToLookAt { return nil }
        }
        return nil
    }

    private func lastSun(
        _ event: SunEvent,
        _ offset: Int64,
        after begin: Int64,
        through end: Int64,
        in zone: LocalZone,
        at place: Place?
    ) -> Int64? {
        guard let place, let sun = Sun(latitude: place.latitude, longitude: place.longitude) else { return nil }
        var search = SunSearch(event: event, sun: sun, zone: zone, filter: DayFilter(self))
        let last = Int((end - offset) / LocalZone.day) + 2
        // Below this all are before the begin.
        let first = Int((LocalZone.clamped(begin) - offset) / LocalZone.day) - 3
        for day in (max(first, last - Self.daysToLookThrough)...last).reversed() {
            if let time = search.time(on: day), time + offset <= end { return time + offset }
            if search.count > Self.sunEventsToLookAt { return nil }
        }
        return nil
    }
}

/// Looks at sunrises or sunsets, day by day.
private struct SunSearch {
    let event: ScheduleRule.SunEvent
    let sun: Sun
    let zone: LocalZone
    let filter: DayFilter
    /// How many days it has calculated.
    private(set) var count = 0

    /// The event of a solar day, if it is on a local date that the rule has.
    mutating func time(on day: Int) -> Int64? {
        // The local date is near the number of the solar day, so most days of a monthly rule need no calculation.
        guard filter.allowsAny(day - 3...day + 3) else { return nil }
        count += 1
        guard let time = sun.time(of: event, day: day), filter.allows(zone.dayNumber(at: time)) else { return nil }
        return time
    }
}
