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

    /// What the clock shows; nil outside of the years 0 to 9999.
    static var now: EntryDate? { EntryDate(milliseconds: ClockReading.now.wall) }

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
        func padded(_ number: Int64, _ count: Int) -> String {
            let digits = "\(number)"
            return String(repeating: "0", count: max(0, count - digits.count)) + digits
        }
        return "\(CivilDate(dayNumber: Int(day)))T\(padded(rest / 3_600_000, 2)):"
            + "\(padded(rest / 60_000 % 60, 2)):\(padded(rest / 1000 % 60, 2)).\(padded(rest % 1000, 3))Z"
    }
}

extension Int64 {
    fileprivate func flooredDivision(by divisor: Int64) -> (Int64, Int64) {
        let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
    }
}

/// Parses the parts of a date.
private struct DateReader {
    private var rest: Substring.UTF8View
    private var isInLeapSecond = false

    init(_ text: String) { rest = text[...].utf8 }

    mutating func milliseconds() -> Int64? {
        guard let year = number(4), skip("-"), let month = number(2), skip("-"), let day = number(2),
            let date = CivilDate(year: Int(year), month: Int(month), day: Int(day))
        else { return nil }
        let midnight = Int64(date.dayNumber) * 86_400_000
        if rest.isEmpty { return midnight }
        guard skip("T", or: "t"), let time = time(), let zone = zone(), rest.isEmpty else { return nil }
        let milliseconds = midnight + time - zone
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
