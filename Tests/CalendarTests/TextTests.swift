import Glibc
import Testing

@testable import Calendar

@Suite struct TextTests {
    @Test(arguments: [
        ("22:00", ScheduleRule.Moment.at(79_200), "22:00"), ("22:00:30", .at(79_230), "22:00:30"),
        ("7:05", .at(25_500), "07:05"), ("00:00", .at(0), "00:00"), ("23:59:59", .at(86_399), "23:59:59"),
        ("sunrise", .sun(.sunrise, offset: 0), "sunrise"), ("sunset", .sun(.sunset, offset: 0), "sunset"),
        ("sunrise+10m", .sun(.sunrise, offset: 600), "sunrise+10m"),
        ("sunset-1h30m", .sun(.sunset, offset: -5400), "sunset-1h30m"),
        ("sunset-90m", .sun(.sunset, offset: -5400), "sunset-1h30m"),
        ("sunrise+30s1h", .sun(.sunrise, offset: 3630), "sunrise+1h30s"),
        ("sunrise+12h", .sun(.sunrise, offset: 43_200), "sunrise+12h"),
        ("sunrise-43200s", .sun(.sunrise, offset: -43_200), "sunrise-12h"),
        ("sunrise+0m", .sun(.sunrise, offset: 0), "sunrise"),
    ])
    func `the texts of at`(text: String, moment: ScheduleRule.Moment, canonical: String) throws {
        #expect(try ScheduleRule.Moment(at: text) == moment)
        #expect(moment.description == canonical)
        #expect(try ScheduleRule.Moment(at: canonical) == moment)
    }

    @Test(arguments: [
        "25:00", "24:00", "12:60", "12:00:60", "12", "12:0", "012:00", "12:00:00:00", "-1:00", "+1:00", " 12:00",
        "12:00 ", "noon", "", ":", "::", "1２:00", "12:००", "Sunrise", "sunrise ", "sunrise 10m", "sunriseset",
        "sunrise10m", "sunrise+", "sunset-", "sunset+m", "sunset+1d", "sunset+1h-10m", "sunset+1h1h", "sunset+-1h",
        "sunset + 1h", "sunset+1.5h", "sunset+１h", "dawn", "99999999999999999999:00",
    ])
    func `what is no time is told what one is`(text: String) {
        #expect(
            throws: ScheduleTextError(description: "'\(text)' is no time; write 22:00, 22:00:30, sunrise, sunset-1h30m")
        ) {
            try ScheduleRule.Moment(at: text)
        }
    }

    @Test(arguments: [
        ("sunset+10", "'sunset+10' has a number without a unit; write h, m or s behind it, as in sunset-1h30m"),
        ("sunset-1h30", "'sunset-1h30' has a number without a unit; write h, m or s behind it, as in sunset-1h30m"),
        ("sunset+13h", "'sunset+13h' is too far from sunset; write sunset+12h or less"),
        ("sunrise-12h1s", "'sunrise-12h1s' is too far from sunrise; write sunrise-12h or less"),
        (
            "sunrise-99999999999999999999s",
            "'sunrise-99999999999999999999s' is too far from sunrise; write sunrise-12h or less"
        ),
    ])
    func `what is wrong with an offset is said`(text: String, message: String) {
        #expect(throws: ScheduleTextError(description: message)) { try ScheduleRule.Moment(at: text) }
    }

    @Test func `an interval divides a day`() throws {
        for (seconds, description) in [(10, "10s"), (900, "15m"), (3600, "1h"), (5400, "1h30m"), (86_400, "24h")] {
            let moment = try ScheduleRule.Moment(every: seconds)
            #expect(moment == .every(seconds) && moment.description == description)
        }
        for (seconds, message) in [
            (9, "each 9s is too often; write at least 10s"), (0, "each 0s is too often; write at least 10s"),
            (-60, "each -1m is too often; write at least 10s"),
            (420, "7m does not divide a day; write 6m40s or 7m12s"),
            (11, "11s does not divide a day; write 10s or 12s"),
            (18_000, "5h does not divide a day; write 4h48m or 6h"),
            (50_000, "13h53m20s does not divide a day; write 12h or 24h"),
            (172_800, "48h does not divide a day; write 24h"),
        ] {
            #expect(throws: ScheduleTextError(description: message)) { try ScheduleRule.Moment(every: seconds) }
        }
    }

    @Test func `weekdays have three letters`() {
        #expect(Weekday.allCases.map(\.rawValue) == ["mon", "tue", "wed", "thu", "fri", "sat", "sun"])
        #expect(Weekday.allCases.map(\.index) == Array(0...6))
        #expect(Weekday(rawValue: "monday") == nil)
    }

    @Test func `dates are those of libc, from year 1 to 9999`() throws {
        for day in stride(from: -719_162, through: 2_932_896, by: 97) {
            var (seconds, parts) = (time_t(day) * 86_400, tm())
            gmtime_r(&seconds, &parts)
            let date = CivilDate(dayNumber: day)
            let expected = [Int(parts.tm_year) + 1900, Int(parts.tm_mon) + 1, Int(parts.tm_mday)]
            guard [date.year, date.month, date.day] == expected, date.dayNumber == day,
                (CivilDate.weekdayIndex(of: day) + 1) % 7 == Int(parts.tm_wday)
            else {
                Issue.record("\(day): \(date), not \(expected)")
                return
            }
        }
        #expect(CivilDate(dayNumber: 0).description == "1970-01-01")
        #expect(CivilDate(dayNumber: -719_162).description == "0001-01-01")
        #expect(try #require(CivilDate("2024-02-29")) < #require(CivilDate("2024-03-01")))
    }

    @Test(arguments: [
        "2026-02-30", "2025-02-29", "2100-02-29", "2026-04-31", "2026-00-10", "2026-13-01", "2026-01-00", "2026-01-32",
        "26-1-1", "2026-1-01", "2026-01-1", "20260101", "2026/01/01", "2026-01-01 ", " 2026-01-01", "2026-01-01T00:00",
        "-026-01-01", "+026-01-01", "２026-01-1", "", "today", "0000-01-01",
    ])
    func `what is no date has no bounds`(text: String) {
        #expect(CivilDate(text) == nil)
        #expect(LocalZone().dayBounds(of: text) == nil)
    }
}
