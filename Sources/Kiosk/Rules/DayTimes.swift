package import Calendar

/// The times of the day, and the days, at which a page may be shown: by local time, as a schedule has them.
package struct DayTimes: Sendable, Hashable {
    /// When they begin, on their days.
    private let begin: ScheduleRule
    /// When they end: the first such time after the begin, also that of the next day.
    private let end: ScheduleRule

    /// - Parameters:
    ///   - from: when they begin; nil: with the day.
    ///   - until: when they end; nil: with the day.
    ///   - days: the days on which they begin; nil: all.
    package init(from: ScheduleRule.Moment? = nil, until: ScheduleRule.Moment? = nil, days: Set<Weekday>? = nil) {
        begin = ScheduleRule(from ?? .at(0), days: days)
        end = ScheduleRule(until ?? .at(0))
    }

    /// Whether they need a position. Without one they never are.
    package var needsPosition: Bool { begin.needsPosition || end.needsPosition }

    /// When the time ends that a moment is in; nil if it is in none. Both are seconds since 1970.
    func end(around seconds: Int64, in zone: LocalZone, at place: ScheduleRule.Place?) -> Int64? {
        guard let begun = begin.last(after: seconds - Self.longest, through: seconds, in: zone, at: place),
            let over = end.next(after: begun, in: zone, at: place), over > seconds
        else { return nil }
        return over
    }

    /// When the next one begins, in seconds since 1970; nil if none does.
    func nextBegin(after seconds: Int64, in zone: LocalZone, at place: ScheduleRule.Place?) -> Int64? {
        begin.next(after: seconds, in: zone, at: place)
    }

    /// No day is longer, in seconds.
    private static let longest: Int64 = 26 * 3600
}
