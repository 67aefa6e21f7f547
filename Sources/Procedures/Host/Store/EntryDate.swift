internal import Calendar

/// A moment in the form of the data: ISO 8601 in UTC to the millisecond, `2026-11-21T10:00:00.000Z`, always 24 bytes.
/// So texts sort like their times, an index serves a range of them, and reading needs no conversion.
package struct EntryDate: Sendable, Hashable, Comparable, CustomStringConvertible {
    /// Milliseconds since 1970.
    package let milliseconds: Int64
    package var description: String { Self.text(milliseconds) }

    /// No clock that is right has recorded anything earlier.
    static let earliestRecorded = text(ClockTrust.earliest)

    /// The years 0000 to 9999, which four digits can express.
    private static let range = Int64(-62_167_219_200_000)...253_402_300_799_999

    /// Nil outside of the years 0 to 9999.
    package init?(milliseconds: Int64) {
        guard Self.range.contains(milliseconds) else { return nil }
        self.milliseconds = milliseconds
    }

    /// Reads ISO 8601: a date, which is its first moment in UTC, or a date and a time with a zone, such as
    /// `2026-11-21T10:00Z` and `2026-11-21T11:00:00.5+01:00`. Every time of RFC 3339 is one. A leap second is the first second
    /// of the next day, as in the clocks of Unix.
    package init(_ text: String) throws(StoreError) {
        var reader = DateReader(text)
        guard let milliseconds = reader.milliseconds(), Self.range.contains(milliseconds) else {
            let shown = text.count > 40 ? "\(text.prefix(40))…" : text
            throw StoreError(
                .invalid,
                "'\(shown)' is not a date: give ISO 8601 with a zone, such as 2026-11-21T10:00:00Z or 2026-11-21T11:00:00+01:00, "
                    + "or a day such as 2026-11-21"
            )
        }
        self.milliseconds = milliseconds
    }

    package static func < (one: EntryDate, other: EntryDate) -> Bool { one.milliseconds < other.milliseconds }

    private static func text(_ milliseconds: Int64) -> String {
        let (day, rest) = milliseconds.flooredDivision(by: 86_400_000)
        let (year, month, date) = Calendar.date(ofDay: day)
        func padded(_ number: Int64, _ count: Int) -> String {
            let digits = "\(number)"
            return String(repeating: "0", count: max(0, count - digits.count)) + digits
        }
        return "\(padded(year, 4))-\(padded(month, 2))-\(padded(date, 2))T\(padded(rest / 3_600_000, 2)):"
            + "\(padded(rest / 60_000 % 60, 2)):\(padded(rest / 1000 % 60, 2)).\(padded(rest % 1000, 3))Z"
    }
}

extension Int64 {
    fileprivate func flooredDivision(by divisor: Int64) -> (Int64, Int64) {
        let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
    }
}

/// Days of the Gregorian calendar, counted from 1970 (the algorithms of Howard Hinnant's "chrono-Compatible Low-Level
/// Date Algorithms": with years that begin in March, the leap day is at the end).
private enum Calendar {
    static func day(_ year: Int64, _ month: Int64, _ date: Int64) -> Int64 {
        let year = month <= 2 ? year - 1 : year
        let (era, yearOfEra) = year.flooredDivision(by: 400)
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + date - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }

    static func date(ofDay day: Int64) -> (year: Int64, month: Int64, date: Int64) {
        let (era, dayOfEra) = (day + 719_468).flooredDivision(by: 146_097)
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let part = (5 * dayOfYear + 2) / 153
        let month = part < 10 ? part + 3 : part - 9
        return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * part + 2) / 5 + 1)
    }
}

/// Parses the parts of a date.
private struct DateReader {
    private var rest: Substring.UTF8View
    private var isInLeapSecond = false

    init(_ text: String) { rest = text[...].utf8 }

    mutating func milliseconds() -> Int64? {
        guard let year = number(4), skip("-"), let month = number(2), (1...12).contains(month), skip("-"),
            let date = number(2), date >= 1
        else { return nil }
        let day = Calendar.day(year, month, date)
        // Refuses dates such as the 31st of a shorter month.
        guard Calendar.date(ofDay: day) == (year, month, date) else { return nil }
        if rest.isEmpty { return day * 86_400_000 }
        guard skip("T", or: "t"), let time = time(), let zone = zone(), rest.isEmpty else { return nil }
        let milliseconds = day * 86_400_000 + time - zone
        // It comes only at the end of a day of UTC.
        if isInLeapSecond, milliseconds.flooredDivision(by: 86_400_000).1 >= 1000 { return nil }
        return milliseconds
    }

    private mutating func time() -> Int64? {
        guard let hour = number(2), hour < 24, skip(":"), let minute = number(2), minute < 60 else { return nil }
        var time = (hour * 60 + minute) * 60_000
        guard skip(":") else { return time }
        guard let second = number(2), second <= 60 else { return nil }
        isInLeapSecond = second == 60
        time += second * 1000
        guard skip(".") else { return time }
        var digits = 0
        while let digit = rest.first, (0x30...0x39).contains(digit) {
            if digits < 3 { time += Int64(digit - 0x30) * [100, 10, 1][digits] }
            digits += 1
            rest = rest.dropFirst()
        }
        return (1...20).contains(digits) ? time : nil
    }

    private mutating func zone() -> Int64? {
        if skip("Z", or: "z") { return 0 }
        let sign: Int64 = skip("+") ? 1 : skip("-") ? -1 : 0
        guard sign != 0, let hour = number(2), hour < 24 else { return nil }
        guard skip(":") || !rest.isEmpty else { return sign * hour * 3_600_000 }
        guard let minute = number(2), minute < 60 else { return nil }
        return sign * (hour * 60 + minute) * 60_000
    }

    private mutating func skip(_ character: Unicode.Scalar, or other: Unicode.Scalar? = nil) -> Bool {
        guard let first = rest.first, first == UInt8(ascii: character) || first == other.map(UInt8.init(ascii:)) else {
            return false
        }
        rest = rest.dropFirst()
        return true
    }

    private mutating func number(_ count: Int) -> Int64? {
        let digits = rest.prefix(count)
        guard digits.count == count, digits.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        rest = rest.dropFirst(count)
        return digits.reduce(0) { $0 * 10 + Int64($1 - 0x30) }
    }
}
