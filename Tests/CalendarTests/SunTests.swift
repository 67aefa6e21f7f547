import Testing

@testable import Calendar

/// A place, and what almanacs print for it.
private struct Almanac: CustomTestStringConvertible {
    let name: String
    let place: ScheduleRule.Place
    /// Hours by which its times are ahead of UTC.
    let zone: Int
    /// A date, sunrise and sunset; a sunset after midnight has an hour of 24 or more.
    let days: [(date: String, rise: String?, set: String?)]

    var testDescription: String { name }

    func seconds(_ date: String, _ clock: String) -> Int64 {
        let parts = clock.split(separator: ":").compactMap { Int64($0) }
        return utc("\(date) 00:00") + (parts[0] - Int64(zone)) * 3600 + parts[1] * 60
            + (parts.count > 2 ? parts[2] : 30)
    }

    /// The `TZ` of its clock.
    var variable: String { "XXX\(-zone)" }
}

/// Printed to the minute, so the middle of the minute is compared; timeanddate.com's unless said otherwise.
private let almanacs = [
    // To the second, for the Houses of Parliament.
    Almanac(
        name: "London in June 2025",
        place: (51.5, -0.125),
        zone: 1,
        days: [
            ("2025-06-15", "4:42:13", "21:20:07"), ("2025-06-17", "4:42:09", "21:20:59"),
            ("2025-06-20", "4:42:26", "21:21:54"), ("2025-06-21", "4:42:38", "21:22:06"),
            ("2025-06-23", "4:43:10", "21:22:21"), ("2025-06-26", "4:44:21", "21:22:21"),
        ]
    ),
    Almanac(
        name: "London in December 2015",
        place: (51.5085, -0.1257),
        zone: 0,
        days: [("2015-12-01", "7:43", "15:55")]
    ),
    Almanac(
        name: "New York in winter",
        place: (40.7128, -74.006),
        zone: -5,
        days: [
            ("2019-12-01", "7:00", "16:29"), ("2019-12-10", "7:08", "16:28"), ("2019-12-21", "7:16", "16:31"),
            ("2019-12-31", "7:19", "16:38"), ("2023-12-21", "7:16", "16:31"), ("2024-01-01", nil, "16:39"),
            ("2024-02-01", nil, "17:13"), ("2024-03-01", nil, "17:47"),
        ]
    ),
    Almanac(
        name: "New York in summer",
        place: (40.7128, -74.006),
        zone: -4,
        days: [("2016-06-20", "5:25", "20:31"), ("2024-03-19", nil, "19:07")]
    ),
    Almanac(
        name: "Sydney in December 2019",
        place: (-33.8688, 151.2093),
        zone: 11,
        days: [
            ("2019-12-01", "5:37", "19:50"), ("2019-12-10", "5:37", "19:58"), ("2019-12-21", "5:40", "20:05"),
            ("2019-12-31", "5:46", "20:09"),
        ]
    ),
    Almanac(
        name: "Moscow in December 2019",
        place: (55.7558, 37.6173),
        zone: 3,
        days: [
            ("2019-12-01", "8:34", "16:02"), ("2019-12-15", "8:52", "15:56"), ("2019-12-21", "8:57", "15:57"),
            ("2019-12-31", "8:59", "16:05"),
        ]
    ),
    // mbl.is by the almanac of the University of Iceland; Icelandic Times.
    Almanac(
        name: "Reykjavik",
        place: (64.1466, -21.9426),
        zone: 0,
        days: [
            ("2019-12-22", "11:22", "15:31"), ("2004-12-21", "11:22", "15:30"), ("2024-06-25", "2:57", "24:03"),
        ]
    ),
    // By libastro (PyEphem), the sun's middle 50' below the horizon.
    Almanac(
        name: "Nairobi",
        place: (-1.2864, 36.8172),
        zone: 3,
        days: [
            ("2024-03-20", "6:36:49", "18:43:17"), ("2024-06-21", "6:33:11", "18:36:04"),
            ("2024-12-21", "6:24:59", "18:36:57"),
        ]
    ),
]

private let tromso: ScheduleRule.Place = (69.6492, 18.9553)
private let sunrise = ScheduleRule(.sun(.sunrise, offset: 0))
private let sunset = ScheduleRule(.sun(.sunset, offset: 0))

extension LocalTimeTests {
    @Suite struct SunTests {
        @Test(arguments: almanacs)
        private func `sunrise and sunset are those of almanacs, within two minutes`(almanac: Almanac) {
            inZone(almanac.variable) { _ in
                for day in almanac.days {
                    for (rule, clock) in [(sunrise, day.rise), (sunset, day.set)] {
                        guard let clock else { continue }
                        let printed = almanac.seconds(day.date, clock)
                        let next = rule.next(after: printed - 6 * 3600, at: almanac.place)
                        let distance = next.map { abs($0 - printed) } ?? .max
                        #expect(distance <= 120, "\(day.date): \(next.map { text($0) } ?? "none"), not \(clock)")
                    }
                }
            }
        }

        @Test func `an offset moves the run, and the date is that of the sunrise itself`() throws {
            let place: ScheduleRule.Place = (51.5, -0.125)
            try inZone("BST-1") { _ in
                let rise = try #require(sunrise.next(after: utc("2025-06-21 00:00"), at: place))
                for (offset, seconds) in [("+10m", 600), ("-1h30m", -5400), ("+12h", 43_200), ("-12h", -43_200)] {
                    let rule = ScheduleRule(try ScheduleRule.Moment(at: "sunrise\(offset)"), days: [.sat])
                    // 2025-06-21 is a Saturday; twelve hours before its sunrise it is Friday.
                    let run = rise + Int64(seconds)
                    #expect(rule.next(after: run - 1, at: place) == run)
                    #expect(rule.next(after: run, at: place).map { $0 > run + 6 * 86_400 } == true)
                    #expect(rule.last(after: run - 1, through: run, at: place) == run)
                    #expect(rule.last(after: run - 86_400, through: run - 1, at: place) == nil)
                }
            }
        }

        @Test func `two sunsets may be on one date, and none`() {
            let place: ScheduleRule.Place = (64.1466, -21.9426)
            inZone("UTC") { zone in
                // As sunset moves past midnight in June, a date has none; as it comes back at the end of the month,
                // one has two.
                var counts: [String: Int] = [:]
                for run in sunset.runs(after: utc("2011-06-10 12:00"), through: utc("2011-07-10 12:00"), at: place) {
                    counts[zone.moment(at: run).date.description, default: 0] += 1
                }
                #expect(counts["2011-06-29"] == 2)
                #expect(counts["2011-06-16"] == nil)
                #expect(counts.values.reduce(0, +) == 30 && counts.count == 29)
            }
        }

        @Test func `Tromsø has no sunrise in its polar night and no sunset in its polar day`() throws {
            try inZone("CET-1CEST,M3.5.0,M10.5.0/3") { _ in
                for rule in [sunrise, sunset] {
                    // From November 27 to January 15, and from May 20 to July 22, says the tourist office.
                    #expect(
                        rule.runs(after: utc("2024-11-30 00:00"), through: utc("2025-01-13 00:00"), at: tromso) == []
                    )
                    #expect(
                        rule.runs(after: utc("2025-05-21 00:00"), through: utc("2025-07-21 00:00"), at: tromso) == []
                    )
                }
                let first = try #require(sunrise.next(after: utc("2024-12-21 00:00"), at: tromso))
                #expect((utc("2025-01-14 00:00")..<utc("2025-01-17 00:00")).contains(first), "\(text(first))")
                let last = try #require(
                    sunset.last(after: utc("2024-06-01 00:00"), through: utc("2024-12-21 00:00"), at: tromso)
                )
                #expect((utc("2024-11-25 00:00")..<utc("2024-11-29 00:00")).contains(last), "\(text(last))")
                // In December there is never one.
                let december = ScheduleRule(.sun(.sunrise, offset: 0), dates: [6])
                let next = try #require(december.next(after: utc("2024-12-01 00:00"), at: tromso))
                #expect(text(next).hasPrefix("2025-02-06"))
            }
        }

        @Test func `without a position, with none on the globe, and at the poles there are no runs`() {
            let end = utc("2025-06-01 00:00")
            #expect(sunrise.next(after: 0, at: nil) == nil)
            #expect(sunrise.last(after: 0, through: end, at: nil) == nil)
            for place: ScheduleRule.Place in [
                (91, 0), (-91, 0), (0, 181), (0, -181), (.nan, 0), (0, .nan), (.infinity, 0), (90, 0), (-90, 0),
            ] {
                #expect(sunrise.next(after: end, at: place) == nil)
                #expect(sunset.last(after: 0, through: end, at: place) == nil)
            }
        }
    }
}
