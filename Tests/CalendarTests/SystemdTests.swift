import Glibc
import Testing

@testable import Calendar

private let years = (begin: utc("2024-12-31 23:59:59"), end: utc("2034-12-31 23:59:59"))
private let zones = ["Europe/Dublin", "America/New_York", "Australia/Lord_Howe", "Asia/Kolkata", "UTC"]
private let hasSystemd = access("/usr/bin/systemd-analyze", X_OK) == 0
private let hasAllZones = hasZones(zones)

/// What systemd says of an expression: at most so many runs after a moment.
private func systemdRuns(_ expression: String, in zone: String, after begin: Int64, count: Int) -> [Int64] {
    let command =
        "TZ=\(zone) LC_ALL=C /usr/bin/systemd-analyze calendar --iterations=\(count) "
        + "--base-time='\(text(begin)) UTC' '\(expression)'"
    guard let pipe = popen(command, "r") else {
        Issue.record("\(command): cannot run")
        return []
    }
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while case let length = fread(&buffer, 1, buffer.count, pipe), length > 0 { bytes += buffer[..<length] }
    #expect(pclose(pipe) == 0, "\(command) failed")
    return bytes.split(separator: UInt8(ascii: "\n")).compactMap { line in
        // Both `(in UTC): Sat 2025-01-04 22:00:00 UTC` and, in the zone UTC, the run itself end so.
        guard line.count > 24, line.suffix(4).elementsEqual(" UTC".utf8) else { return nil }
        return seconds(line.dropLast(4).suffix(19))
    }
}

/// The same as `utc`, of a hundred thousand lines.
private func seconds(_ bytes: ArraySlice<UInt8>) -> Int64? {
    let numbers = bytes.split { $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: ":") || $0 == UInt8(ascii: " ") }
        .map { $0.reduce(0) { $0 * 10 + Int($1) - 48 } }
    guard numbers.count == 6, let date = CivilDate(year: numbers[0], month: numbers[1], day: numbers[2]) else {
        return nil
    }
    return Int64(date.dayNumber * 86_400 + numbers[3] * 3600 + numbers[4] * 60 + numbers[5])
}

/// A schedule, and the same as systemd has it.
private struct Pair {
    let rule: ScheduleRule
    let expression: String
    let most: Int

    init(
        _ expression: String,
        _ time: String,
        days: Set<Weekday>? = nil,
        dates: Set<Int>? = nil,
        most: Int = 3700
    ) throws {
        rule = ScheduleRule(try ScheduleRule.Moment(at: time), days: days, dates: dates)
        (self.expression, self.most) = (expression, most)
    }

    static func all() throws -> [Pair] {
        let daily = try ["00:00", "01:30", "02:00", "02:15", "02:30", "03:00", "22:00", "23:59:59"].map {
            try Pair("*-*-* \($0)", $0)
        }
        let weekly = try [
            Pair("Mon *-*-* 06:00", "06:00", days: [.mon], most: 530),
            Pair("Sun *-*-* 01:30", "01:30", days: [.sun], most: 530),
            Pair("Sun *-*-* 02:30", "02:30", days: [.sun], most: 530),
            Pair("Wed *-*-* 00:00", "00:00", days: [.wed], most: 530),
            Pair("Tue,Thu *-*-* 18:30", "18:30", days: [.tue, .thu], most: 1060),
            Pair("Sat,Sun *-*-* 09:05:07", "9:05:07", days: [.sat, .sun], most: 1060),
            Pair("Mon..Fri *-*-* 22:00", "22:00", days: [.mon, .tue, .wed, .thu, .fri], most: 2700),
        ]
        let monthly = try [
            Pair("*-*-01 03:00", "03:00", dates: [1], most: 130),
            Pair("*-*-15 12:00", "12:00", dates: [15], most: 130),
            Pair("*-*-29 00:00", "00:00", dates: [29], most: 130),
            Pair("*-*-31 23:30", "23:30", dates: [31], most: 130),
            Pair("*-*-01,15 00:00", "00:00", dates: [1, 15], most: 250),
            Pair("*-*-28..31 08:00", "08:00", dates: [28, 29, 30, 31], most: 450),
            Pair("Mon *-*-1..7 10:00", "10:00", days: [.mon], dates: Set(1...7), most: 130),
            Pair("Fri *-*-13 13:13", "13:13", days: [.fri], dates: [13], most: 30),
            Pair("Sun *-*-25..31 01:30", "01:30", days: [.sun], dates: Set(25...31), most: 130),
            Pair("Sun *-*-8..14 02:30", "02:30", days: [.sun], dates: Set(8...14), most: 130),
            Pair("Mon *-*-31 00:00", "00:00", days: [.mon], dates: [31], most: 30),
        ]
        return daily + weekly + monthly
    }
}

/// Changes of the clock, and what systemd leaves out on those days: it drops a time that never comes.
private struct Changes {
    let forward: [Int64]
    let back: [Int64]
    /// The schedules whose time is in the gap.
    let left: Set<String>

    static let none = Changes(forward: [], back: [], left: [])

    private init(forward: [Int64], back: [Int64], left: Set<String>) {
        (self.forward, self.back, self.left) = (forward, back, left)
    }

    /// - Parameters:
    ///   - forward: the dates, in UTC, of the years from 2025 on.
    ///   - clock: the time of the change, in UTC.
    private init(forward: String, at clock: String, back: String, at backClock: String, left: Set<String>) {
        func moments(_ dates: String, _ clock: String) -> [Int64] {
            zip(2025..., dates.split(separator: " ")).map { utc("\($0)-\($1) \(clock)") }
        }
        self.init(forward: moments(forward, clock), back: moments(back, backClock), left: left)
    }

    static func of(_ zone: String) -> Changes {
        switch zone {
        case "Europe/Dublin":
            Changes(
                forward: "03-30 03-29 03-28 03-26 03-25 03-31 03-30 03-28 03-27 03-26",
                at: "01:00",
                back: "10-26 10-25 10-31 10-29 10-28 10-27 10-26 10-31 10-30 10-29",
                at: "01:00",
                left: ["*-*-* 01:30", "Sun *-*-* 01:30", "Sun *-*-25..31 01:30"]
            )
        case "America/New_York":
            Changes(
                forward: "03-09 03-08 03-14 03-12 03-11 03-10 03-09 03-14 03-13 03-12",
                at: "07:00",
                back: "11-02 11-01 11-07 11-05 11-04 11-03 11-02 11-07 11-06 11-05",
                at: "06:00",
                left: [
                    "*-*-* 02:00", "*-*-* 02:15", "*-*-* 02:30", "Sun *-*-* 02:30", "Sun *-*-8..14 02:30",
                ]
            )
        case "Australia/Lord_Howe":
            Changes(
                forward: "10-04 10-03 10-02 09-30 10-06 10-05 10-04 10-02 10-01 09-30",
                at: "15:30",
                back: "04-05 04-04 04-03 04-01 03-31 04-06 04-05 04-03 04-02 04-01",
                at: "15:00",
                left: ["*-*-* 02:00", "*-*-* 02:15"]
            )
        default: none
        }
    }
}

extension LocalTimeTests {
    @Suite(
        .enabled(if: hasSystemd, "there is no systemd-analyze"),
        .enabled(if: hasAllZones, "tzdata lacks a zone")
    )
    struct SystemdTests {
        @Test(arguments: zones)
        func `times of day run as systemd's timers do for ten years, but none is dropped`(zone: String) throws {
            let changes = Changes.of(zone)
            try inZone(zone) { _ in
                for pair in try Pair.all() {
                    let theirs = systemdRuns(pair.expression, in: zone, after: years.begin, count: pair.most)
                        .filter { $0 <= years.end }
                    let ours = pair.rule.runs(after: years.begin, through: years.end)
                    try #require(theirs.count > 9 && theirs.count < pair.most)
                    let added = changes.left.contains(pair.expression) ? changes.forward : []
                    let expected = (theirs + added).sorted()
                    #expect(ours == expected, "\(zone), \(pair.expression): \(difference(ours, expected))")
                }
            }
        }

        @Test(arguments: zones)
        func `steps are systemd's on days that have 24 hours`(zone: String) throws {
            let changes = Changes.of(zone)
            let steps = [
                ("*-*-* *:00/15", 900, 48), ("*-*-* *:00", 3600, 96), ("*-*-* 00/6:00", 21_600, 96),
                ("*-*-* *:*:00/10", 10, 3),
            ]
            let moments = changes.forward + changes.back + [utc("2027-02-28 12:00"), utc("2028-02-29 01:00")]
            try inZone(zone) { localZone in
                for (expression, seconds, hours) in steps {
                    // Each ten seconds once.
                    for moment in seconds == 10 ? moments.suffix(1) : moments[...] {
                        let rule = ScheduleRule(.every(seconds))
                        let day = localZone.dayBounds(of: localZone.moment(at: moment).date)
                        let isChange = day.upperBound - day.lowerBound != 86_400
                        try #require(isChange == (changes.forward + changes.back).contains(moment))
                        let (begin, end) = (moment - Int64(hours) * 3600, moment + Int64(hours) * 3600)
                        let count = hours * 2 * 3600 / seconds + 10
                        let theirs = systemdRuns(expression, in: zone, after: begin, count: count)
                            .filter { $0 <= end && !(isChange && day.contains($0)) }
                        let ours = rule.runs(after: begin, through: end)
                        let compared = ours.filter { !(isChange && day.contains($0)) }
                        #expect(compared == theirs, "\(zone), \(expression): \(difference(compared, theirs))")
                        guard isChange else { continue }
                        // On the day of a change, steps of elapsed time.
                        let own = stride(from: day.lowerBound, to: day.upperBound, by: seconds).map { $0 }
                        #expect(ours.filter { day.contains($0) } == own)
                    }
                }
            }
        }
    }
}

private func difference(_ ours: [Int64], _ others: [Int64]) -> String {
    let more = Set(ours).subtracting(others).sorted().prefix(3).map { text($0) }
    let fewer = Set(others).subtracting(ours).sorted().prefix(3).map { text($0) }
    return "too many \(more), missing \(fewer)"
}
