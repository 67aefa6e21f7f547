import Glibc
import Testing

@testable import Calendar

private func at(_ time: String, days: Set<Weekday>? = nil, dates: Set<Int>? = nil) -> ScheduleRule {
    guard let moment = try? ScheduleRule.Moment(at: time) else {
        Issue.record("'\(time)' is no time")
        return ScheduleRule(.at(0))
    }
    return ScheduleRule(moment, days: days, dates: dates)
}

private let sixHours = ScheduleRule(.every(6 * 3600))

/// Zones, and when to begin to watch their clocks: some change in the five days after that.
private let watched = [
    ("Pacific/Apia", "2011-12-28 00:00"), ("America/St_Johns", "2010-11-05 00:00"),
    ("America/St_Johns", "2010-03-12 00:00"), ("Africa/Casablanca", "2026-02-13 00:00"),
    ("Africa/Casablanca", "2026-03-20 00:00"), ("America/Santiago", "2025-09-05 00:00"),
    ("Australia/Lord_Howe", "2025-04-04 00:00"), ("AAA-3BBB,J100/24,J101/12", "2025-04-08 00:00"),
]

extension LocalTimeTests {
    @Suite struct ClockChangeTests {
        @Test(.enabled(if: hasZones("Europe/Dublin"), "tzdata lacks the zone"))
        func `Dublin, where winter is the exception`() {
            inZone("Europe/Dublin") { _ in
                let time = at("01:30")
                #expect(
                    time.runs(after: "2025-03-28 12:00", through: "2025-03-31 12:00")
                        == ["2025-03-29 01:30:00", "2025-03-30 01:00:00", "2025-03-31 00:30:00"]
                )
                #expect(
                    time.runs(after: "2025-10-24 12:00", through: "2025-10-27 12:00")
                        == ["2025-10-25 00:30:00", "2025-10-26 00:30:00", "2025-10-27 01:30:00"]
                )
                #expect(
                    sixHours.runs(after: "2025-03-29 23:59:59", through: "2025-03-30 23:00") == [
                        "2025-03-30 00:00:00", "2025-03-30 06:00:00", "2025-03-30 12:00:00", "2025-03-30 18:00:00",
                        "2025-03-30 23:00:00",
                    ]
                )
                #expect(
                    sixHours.runs(after: "2025-10-25 22:59:59", through: "2025-10-27 00:00") == [
                        "2025-10-25 23:00:00", "2025-10-26 05:00:00", "2025-10-26 11:00:00", "2025-10-26 17:00:00",
                        "2025-10-26 23:00:00", "2025-10-27 00:00:00",
                    ]
                )
            }
        }

        @Test(.enabled(if: hasZones("America/New_York"), "tzdata lacks the zone"))
        func `New York`() {
            inZone("America/New_York") { _ in
                #expect(
                    at("02:30").runs(after: "2025-03-07 12:00", through: "2025-03-10 12:00")
                        == ["2025-03-08 07:30:00", "2025-03-09 07:00:00", "2025-03-10 06:30:00"]
                )
                // 01:30 comes at 05:30 and at 06:30.
                #expect(
                    at("01:30").runs(after: "2025-10-31 12:00", through: "2025-11-03 12:00")
                        == ["2025-11-01 05:30:00", "2025-11-02 05:30:00", "2025-11-03 06:30:00"]
                )
                #expect(
                    sixHours.runs(after: "2025-03-09 04:59:59", through: "2025-03-10 04:00") == [
                        "2025-03-09 05:00:00", "2025-03-09 11:00:00", "2025-03-09 17:00:00", "2025-03-09 23:00:00",
                        "2025-03-10 04:00:00",
                    ]
                )
                #expect(
                    sixHours.runs(after: "2025-11-02 03:59:59", through: "2025-11-03 05:00") == [
                        "2025-11-02 04:00:00", "2025-11-02 10:00:00", "2025-11-02 16:00:00", "2025-11-02 22:00:00",
                        "2025-11-03 04:00:00", "2025-11-03 05:00:00",
                    ]
                )
                let hours = ScheduleRule(.every(3600))
                #expect(hours.runs(after: utc("2025-03-09 04:59:59"), through: utc("2025-03-10 03:59:59")).count == 23)
                #expect(hours.runs(after: utc("2025-11-02 03:59:59"), through: utc("2025-11-03 04:59:59")).count == 25)
            }
        }

        @Test(.enabled(if: hasZones("Australia/Lord_Howe"), "tzdata lacks the zone"))
        func `Lord Howe, which changes by half an hour`() {
            inZone("Australia/Lord_Howe") { _ in
                #expect(
                    at("02:15").runs(after: "2025-10-03 00:00", through: "2025-10-06 00:00")
                        == ["2025-10-03 15:45:00", "2025-10-04 15:30:00", "2025-10-05 15:15:00"]
                )
                #expect(
                    at("01:45").runs(after: "2025-04-04 00:00", through: "2025-04-07 00:00")
                        == ["2025-04-04 14:45:00", "2025-04-05 14:45:00", "2025-04-06 15:15:00"]
                )
                #expect(
                    sixHours.runs(after: "2025-10-04 13:29:59", through: "2025-10-05 13:00") == [
                        "2025-10-04 13:30:00", "2025-10-04 19:30:00", "2025-10-05 01:30:00", "2025-10-05 07:30:00",
                        "2025-10-05 13:00:00",
                    ]
                )
                #expect(
                    sixHours.runs(after: "2025-04-05 12:59:59", through: "2025-04-06 13:30") == [
                        "2025-04-05 13:00:00", "2025-04-05 19:00:00", "2025-04-06 01:00:00", "2025-04-06 07:00:00",
                        "2025-04-06 13:00:00", "2025-04-06 13:30:00",
                    ]
                )
            }
        }

        @Test(.enabled(if: hasZones("Asia/Kolkata"), "tzdata lacks the zone"))
        func `zones without changes`() {
            inZone("Asia/Kolkata") { _ in
                #expect(
                    at("00:00", dates: [1]).runs(after: "2025-01-01 00:00", through: "2025-04-01 00:00")
                        == ["2025-01-31 18:30:00", "2025-02-28 18:30:00", "2025-03-31 18:30:00"]
                )
            }
            inZone("UTC") { _ in
                #expect(
                    at("23:59:59", days: [.sat, .sun]).runs(after: "2028-02-26 23:59:59", through: "2028-03-05 12:00")
                        == ["2028-02-27 23:59:59", "2028-03-04 23:59:59"]
                )
            }
        }

        @Test(.enabled(if: hasZones("America/Santiago", "Asia/Beirut"), "tzdata lacks a zone"))
        func `days without a midnight`() {
            inZone("America/Santiago") { zone in
                #expect(zone.dayBounds(of: "2025-09-07") == utc("2025-09-07 04:00")..<utc("2025-09-08 03:00"))
                #expect(zone.moment(at: utc("2025-09-07 04:00")).hour == 1)
                #expect(zone.moment(at: utc("2025-09-07 03:59:59")).date.description == "2025-09-06")
                for time in ["00:00", "00:30"] {
                    #expect(
                        at(time, days: [.sun]).runs(after: "2025-09-06 12:00", through: "2025-09-07 12:00")
                            == ["2025-09-07 04:00:00"]
                    )
                }
                #expect(
                    sixHours.runs(after: "2025-09-07 00:00", through: "2025-09-08 03:00") == [
                        "2025-09-07 04:00:00", "2025-09-07 10:00:00", "2025-09-07 16:00:00", "2025-09-07 22:00:00",
                        "2025-09-08 03:00:00",
                    ]
                )
                // The last hour of this day comes twice.
                #expect(zone.dayBounds(of: "2025-04-05") == utc("2025-04-05 03:00")..<utc("2025-04-06 04:00"))
                #expect(
                    at("23:30").runs(after: "2025-04-05 12:00", through: "2025-04-06 12:00")
                        == ["2025-04-06 02:30:00"]
                )
            }
            inZone("Asia/Beirut") { zone in
                #expect(zone.dayBounds(of: "2025-03-30") == utc("2025-03-29 22:00")..<utc("2025-03-30 21:00"))
                #expect(zone.dayBounds(of: "2025-10-25") == utc("2025-10-24 21:00")..<utc("2025-10-25 22:00"))
                #expect(
                    zone.seconds(of: zone.moment(at: utc("2025-03-30 09:00")).date, secondOfDay: 0)
                        == utc("2025-03-29 22:00")
                )
            }
        }

        @Test(.enabled(if: hasZones("Pacific/Apia"), "tzdata lacks the zone"))
        func `a date that was left out`() {
            inZone("Pacific/Apia") { zone in
                let change = utc("2011-12-30 10:00")
                #expect(zone.dayBounds(of: "2011-12-29") == change - 86_400..<change)
                #expect(zone.dayBounds(of: "2011-12-30") == change..<change)
                #expect(zone.dayBounds(of: "2011-12-31") == change..<change + 86_400)
                // Its times never come, so they run at the first moment after them, as those of an hour that is left
                // out.
                #expect(
                    at("22:00").runs(after: "2011-12-29 10:00", through: "2011-12-31 12:00")
                        == ["2011-12-30 08:00:00", "2011-12-30 10:00:00", "2011-12-31 08:00:00"]
                )
                #expect(
                    at("22:00", dates: [30]).runs(after: "2011-12-05 00:00", through: "2012-01-31 00:00")
                        == ["2011-12-30 10:00:00", "2012-01-30 08:00:00"]
                )
                #expect(
                    ScheduleRule(.every(12 * 3600)).runs(after: "2011-12-29 12:00", through: "2011-12-31 12:00")
                        == ["2011-12-29 22:00:00", "2011-12-30 10:00:00", "2011-12-30 22:00:00", "2011-12-31 10:00:00"]
                )
                // A day without a second has no step.
                let fridays = ScheduleRule(.every(43_200), days: [.fri])
                #expect(fridays.runs(after: "2011-12-25 00:00", through: "2012-01-05 10:00") == ["2012-01-05 10:00:00"])
                #expect(fridays.last(after: utc("2011-12-25 00:00"), through: utc("2012-01-05 09:00"), at: nil) == nil)
            }
        }

        @Test(.enabled(if: hasZones("America/St_Johns"), "tzdata lacks the zone"))
        func `a clock put back a minute after midnight does not begin the day twice`() {
            inZone("America/St_Johns") { zone in
                #expect(zone.dayBounds(of: "2010-11-06") == utc("2010-11-06 02:30")..<utc("2010-11-07 02:30"))
                #expect(zone.dayBounds(of: "2010-11-07") == utc("2010-11-07 02:30")..<utc("2010-11-08 03:30"))
                #expect(zone.moment(at: utc("2010-11-07 03:00")).date.description == "2010-11-06")
                #expect(
                    at("23:30").runs(after: "2010-11-06 12:00", through: "2010-11-08 12:00")
                        == ["2010-11-07 02:00:00", "2010-11-08 03:00:00"]
                )
                #expect(
                    at("00:00").runs(after: "2010-11-06 12:00", through: "2010-11-08 12:00")
                        == ["2010-11-07 02:30:00", "2010-11-08 03:30:00"]
                )
                // While the clock shows the evening of the 6th again.
                let moment = utc("2010-11-07 03:00")
                #expect(at("00:00").last(after: 0, through: moment, at: nil) == utc("2010-11-07 02:30"))
                #expect(sixHours.last(after: 0, through: moment, at: nil) == utc("2010-11-07 02:30"))
                #expect(sixHours.next(after: moment, at: nil) == utc("2010-11-07 08:30"))
            }
        }

        /// The clock is looked at each minute; a run is where it first shows the time or a later one.
        @Test(
            .enabled(
                if: hasZones(watched.map(\.0).filter { $0.contains("/") && !$0.contains(",") }),
                "tzdata lacks a zone"
            ),
            arguments: watched
        )
        func `runs are where a clock that is watched says`(zone: String, begin: String) {
            inZone(zone) { zone in
                let moments = (0..<5 * 1440).map { utc(begin) + Int64($0) * 60 }
                let shown = moments.map { $0 + Int64(zone.moment(at: $0).offset) }
                for time in ["00:00", "00:01", "00:30", "01:59", "02:30", "12:00", "23:01", "23:59"] {
                    let rule = at(time)
                    guard case .at(let second) = rule.moment else { return }
                    var expected: [Int64] = []
                    var latest = shown[0]
                    for (moment, shown) in zip(moments, shown) where shown > latest {
                        let days = [latest, shown].map { ($0 - Int64(second)) / 86_400 }
                        if days[1] > days[0] { expected.append(moment) }
                        latest = shown
                    }
                    let found = rule.runs(after: moments[0], through: moments[moments.count - 1])
                    #expect(found.map { text($0) } == expected.map { text($0) }, "\(time)")
                }
            }
        }

        @Test(.enabled(if: hasZones("Europe/Dublin"), "tzdata lacks the zone"))
        func `a zone that nobody knows is named, since libc takes it for UTC`() {
            for name in ["Europe/Dublin", ":Europe/Dublin", "CET-1CEST", "", "/usr/share/zoneinfo/Europe/Dublin"] {
                #expect(inZone(name) { _ in LocalZone.problem } == nil, "\(name)")
            }
            for name in ["Garbage/Zone", ":Garbage", "Europe/dublin", "/no/zone"] {
                #expect(inZone(name) { _ in LocalZone.problem }?.contains("TZ is '\(name)'") == true, "\(name)")
            }
        }

        @Test func `a changed zone is seen by the next question`() {
            let rule = at("12:00")
            inZone("UTC") { zone in
                #expect(rule.next(after: utc("2025-06-01 00:00"), in: zone, at: nil) == utc("2025-06-01 12:00"))
                setenv("TZ", "XXX-3", 1)
                #expect(rule.next(after: utc("2025-06-01 00:00"), in: zone, at: nil) == utc("2025-06-01 09:00"))
                #expect(zone.moment(at: 0).offset == 10_800)
                setenv("TZ", "YYY4", 1)
                #expect(zone.dayBounds(of: "2025-06-01") == utc("2025-06-01 04:00")..<utc("2025-06-02 04:00"))
                setenv("TZ", "UTC", 1)
                #expect(
                    rule.last(after: 0, through: utc("2025-06-01 00:00"), in: zone, at: nil) == utc("2025-05-31 12:00")
                )
            }
        }
    }
}
