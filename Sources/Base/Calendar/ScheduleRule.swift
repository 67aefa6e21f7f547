/// When something is to run, by local time.
///
/// A time of day that comes twice runs once, at the first; one that never comes runs at the first moment after it.
package struct ScheduleRule: Sendable, Hashable {
    package enum SunEvent: String, Sendable, Hashable, CaseIterable {
        case sunrise, sunset
    }

    package enum Moment: Sendable, Hashable {
        /// What the clock shows, in seconds since 00:00:00, 0…86,399.
        case at(Int)
        /// So many seconds after sunrise or sunset, or before it if negative; at most 12 hours.
        case sun(SunEvent, offset: Int)
        /// Each so many seconds, counted from the first second of the local day, and anew from that of the next. At
        /// least 10, and a day of 86,400 is a multiple of it.
        case every(Int)
    }

    package let moment: Moment
    /// Only on these days of the week; nil for all.
    package let days: Set<Weekday>?
    /// Only on these days of the month, 1…31; nil for all. Where `days` are given, too, both must hold.
    package let dates: Set<Int>?

    package init(_ moment: Moment, days: Set<Weekday>? = nil, dates: Set<Int>? = nil) {
        (self.moment, self.days, self.dates) = (moment, days, dates)
    }

    /// Whether there is a day on which it can run: not with an empty set, dates of which no month has one, or a moment
    /// outside of its bounds. Sunrise and sunset need a position, too, at which the sun does rise and set.
    package var canRun: Bool {
        if let days, days.isEmpty { return false }
        if let dates, !dates.contains(where: { (1...31).contains($0) }) { return false }
        return moment.isPossible
    }

    /// Whether it needs a position.
    package var needsPosition: Bool {
        guard case .sun = moment else { return false }
        return true
    }
}

extension ScheduleRule.Moment {
    static let farthestFromSun = 12 * 3600
    static let shortestInterval = 10
    static let secondsOfDay = 86_400

    var isPossible: Bool {
        switch self {
        case .at(let second): (0..<Self.secondsOfDay).contains(second)
        case .sun(_, let offset): (-Self.farthestFromSun...Self.farthestFromSun).contains(offset)
        case .every(let seconds): seconds >= Self.shortestInterval && Self.secondsOfDay.isMultiple(of: seconds)
        }
    }
}

/// On which days a rule runs, as bits: a year of days is looked through for one.
struct DayFilter {
    private var weekdays: UInt8 = 0x7f
    private var dates: UInt32 = 0xffff_fffe
    private let hasDates: Bool

    init(_ rule: ScheduleRule) {
        hasDates = rule.dates != nil
        if let days = rule.days { weekdays = days.reduce(0) { $0 | 1 << UInt8($1.index) } }
        if let dates = rule.dates {
            self.dates = dates.reduce(0) { (1...31).contains($1) ? $0 | 1 << UInt32($1) : $0 }
        }
    }

    func allows(_ dayNumber: Int) -> Bool {
        guard weekdays >> UInt8(CivilDate.weekdayIndex(of: dayNumber)) & 1 == 1 else { return false }
        return !hasDates || dates >> UInt32(CivilDate(dayNumber: dayNumber).day) & 1 == 1
    }

    /// Whether it allows one of these days.
    func allowsAny(_ days: ClosedRange<Int>) -> Bool { days.contains { allows($0) } }
}
