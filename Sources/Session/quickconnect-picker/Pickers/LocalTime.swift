import Glibc

/// A minute of the local calendar. Its texts do not depend on the language of the session.
struct LocalTime: Sendable, Equatable {
    let year: Int
    let month: Int
    let day: Int
    let hour: Int
    let minute: Int
    /// East of Greenwich, in minutes.
    let offset: Int

    static var now: LocalTime {
        var seconds = Glibc.time(nil)
        var parts = tm()
        localtime_r(&seconds, &parts)
        return LocalTime(parts)
    }

    private init(_ parts: tm) {
        year = Int(parts.tm_year) + 1900
        month = Int(parts.tm_mon) + 1
        day = Int(parts.tm_mday)
        hour = Int(parts.tm_hour)
        minute = Int(parts.tm_min)
        offset = parts.tm_gmtoff / 60
    }

    /// Nil for a day that does not exist. A minute that the clock skips in spring becomes a neighbouring one on that
    /// day.
    init?(year: Int, month: Int, day: Int, hour: Int, minute: Int) {
        guard (1...9999).contains(year), (1...12).contains(month), (1...31).contains(day) else { return nil }
        guard (0...23).contains(hour), (0...59).contains(minute) else { return nil }
        for isSummer: Int32 in [-1, 0, 1] {
            var parts = tm()
            (parts.tm_year, parts.tm_mon, parts.tm_mday) = (Int32(year - 1900), Int32(month - 1), Int32(day))
            (parts.tm_hour, parts.tm_min, parts.tm_isdst) = (Int32(hour), Int32(minute), isSummer)
            _ = mktime(&parts)
            let found = LocalTime(parts)
            if found.day == day, found.month == month {
                self = found
                return
            }
        }
        return nil
    }

    /// `2027-03-14`
    var date: String { "\(Self.pad(year, 4))-\(Self.pad(month, 2))-\(Self.pad(day, 2))" }
    /// `15:09`
    var time: String { "\(Self.pad(hour, 2)):\(Self.pad(minute, 2))" }
    /// As the book's pickers answer, the description of an NSDate: `2027-03-14 15:09:00 +0100`.
    var text: String { "\(date) \(time):00 \(zone(separator: ""))" }
    /// ISO 8601: `2027-03-14T15:09:00+01:00`.
    var iso8601: String { "\(date)T\(time):00\(zone(separator: ":"))" }

    private func zone(separator: String) -> String {
        let minutes = abs(offset)
        return "\(offset < 0 ? "-" : "+")\(Self.pad(minutes / 60, 2))\(separator)\(Self.pad(minutes % 60, 2))"
    }

    private static func pad(_ number: Int, _ width: Int) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, width - digits.count)) + digits
    }
}
