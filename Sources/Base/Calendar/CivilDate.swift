/// A date of the Gregorian calendar, without a time and a zone.
package struct CivilDate: Sendable, Hashable, Comparable, CustomStringConvertible {
    package let year: Int
    /// 1…12.
    package let month: Int
    /// 1…31.
    package let day: Int

    /// Nil if there is no such date, as February 30.
    package init?(year: Int, month: Int, day: Int) {
        guard (1...12).contains(month), (1...Self.length(of: month, in: year)).contains(day) else { return nil }
        (self.year, self.month, self.day) = (year, month, day)
    }

    /// A date as `2026-02-03`, with four, two and two digits; nil for everything else, and for a date that does not
    /// exist.
    package init?(_ text: String) {
        let bytes = Array(text.utf8)
        let dash = UInt8(ascii: "-")
        guard bytes.count == 10, bytes[4] == dash, bytes[7] == dash else { return nil }
        guard let year = Self.number(bytes[0..<4]), let month = Self.number(bytes[5..<7]),
            let day = Self.number(bytes[8..<10]), year >= 1
        else { return nil }
        self.init(year: year, month: month, day: day)
    }

    /// The date that is so many days after 1970-01-01, of a year from -30,000 to 30,000 at least.
    package init(dayNumber: Int) {
        // The year begins in March here, so that the day that only some years have is the last of the year.
        let days = dayNumber + 719_468
        let era = (days >= 0 ? days : days - 146_096) / 146_097
        let dayOfEra = days - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shifted = (5 * dayOfYear + 2) / 153
        day = dayOfYear - (153 * shifted + 2) / 5 + 1
        month = shifted < 10 ? shifted + 3 : shifted - 9
        year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
    }

    /// How many days it is after 1970-01-01.
    package var dayNumber: Int {
        let shiftedYear = month <= 2 ? year - 1 : year
        let era = (shiftedYear >= 0 ? shiftedYear : shiftedYear - 399) / 400
        let yearOfEra = shiftedYear - era * 400
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
        return era * 146_097 + dayOfEra - 719_468
    }

    /// `2026-02-03`.
    package var description: String {
        func padded(_ number: Int, _ width: Int) -> String {
            let digits = String(number)
            return String(repeating: "0", count: max(0, width - digits.utf8.count)) + digits
        }
        return "\(padded(year, 4))-\(padded(month, 2))-\(padded(day, 2))"
    }

    package static func < (one: CivilDate, other: CivilDate) -> Bool {
        (one.year, one.month, one.day) < (other.year, other.month, other.day)
    }

    /// 0 for a Monday … 6 for a Sunday.
    static func weekdayIndex(of dayNumber: Int) -> Int {
        // 1970-01-01 was a Thursday.
        let remainder = (dayNumber + 3) % 7
        return remainder < 0 ? remainder + 7 : remainder
    }

    private static func length(of month: Int, in year: Int) -> Int {
        switch month {
        case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }

    /// The number that digits are; nil if there is anything else.
    private static func number(_ bytes: ArraySlice<UInt8>) -> Int? {
        var number = 0
        for byte in bytes {
            guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) else { return nil }
            number = number * 10 + Int(byte - UInt8(ascii: "0"))
        }
        return number
    }
}
