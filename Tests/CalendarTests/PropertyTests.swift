import Testing

@testable import Calendar

/// The same numbers in each run.
private struct SeededNumbers: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var mixed = (state ^ (state >> 30)) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
        return mixed ^ (mixed >> 31)
    }
}

extension ScheduleRule {
    fileprivate static func random(_ numbers: inout SeededNumbers) -> ScheduleRule {
        let steps = [10, 60, 675, 900, 3600, 7200, 21_600, 43_200, 86_400]
        let moment: Moment =
            switch Int.random(in: 0..<4, using: &numbers) {
            case 0: .at(Int.random(in: 0..<86_400, using: &numbers))
            // The hours at which clocks are changed.
            case 1: .at(Int.random(in: 0..<240, using: &numbers) * 60)
            case 2: .every(steps.randomElement(using: &numbers) ?? 10)
            default:
                .sun(
                    Bool.random(using: &numbers) ? .sunrise : .sunset,
                    offset: Int.random(in: -43_200...43_200, using: &numbers)
                )
            }
        let days = Bool.random(using: &numbers) ? nil : Weekday.allCases.filter { _ in Bool.random(using: &numbers) }
        let dates = Bool.random(using: &numbers) ? nil : (1...31).filter { _ in Bool.random(using: &numbers) }
        return ScheduleRule(moment, days: days.map { Set($0) }, dates: dates.map { Set($0) })
    }
}

private let zones = [
    "UTC", "Europe/Dublin", "America/New_York", "Australia/Lord_Howe", "America/Santiago", "Pacific/Apia",
    "America/St_Johns", "Africa/Casablanca", "EST5EDT,M3.2.0,M11.1.0", "AAA-14BBB-15,M9.5.0/0,M4.1.0/0",
]

extension LocalTimeTests {
    @Suite(.enabled(if: hasZones("Europe/Dublin", "Pacific/Apia", "Africa/Casablanca"), "tzdata lacks a zone"))
    struct PropertyTests {
        @Test(arguments: zones)
        func `runs come one after the other, and the last is the last of all`(zone: String) throws {
            var numbers = SeededNumbers(state: 20_261_125)
            inZone(zone) { _ in
                for _ in 0..<100 {
                    let rule = ScheduleRule.random(&numbers)
                    let begin = Int64.random(in: 0...utc("2200-01-01 00:00"), using: &numbers)
                    let place = (
                        Double.random(in: -66...66, using: &numbers), Double.random(in: -180...180, using: &numbers)
                    )
                    check(rule, from: begin, at: place, &numbers)
                }
            }
        }

        private func check(
            _ rule: ScheduleRule,
            from begin: Int64,
            at place: ScheduleRule.Place,
            _ numbers: inout SeededNumbers
        ) {
            var (moment, count) = (begin, 0)
            while count < 20, let run = rule.next(after: moment, at: place) {
                count += 1
                #expect(run > moment, "\(rule) after \(moment)")
                // The same from everywhere in between, and nothing lies in between.
                let middle = Int64.random(in: moment..<run, using: &numbers)
                #expect(rule.next(after: middle, at: place) == run, "\(rule) after \(middle)")
                #expect(rule.last(after: moment, through: run - 1, at: place) == nil, "\(rule) before \(run)")
                #expect(rule.last(after: moment, through: run, at: place) == run, "\(rule) at \(run)")
                // From the begin, over all that were before.
                #expect(rule.last(after: begin, through: run, at: place) == run)
                if count > 1 { #expect(rule.last(after: begin, through: run - 1, at: place) == moment) }
                moment = run
            }
            #expect(count == 20 || !rule.canRun, "\(rule) after \(moment)")
        }

        @Test func `any number of seconds may be asked for`() {
            let rules = [
                ScheduleRule(.at(0)), ScheduleRule(.at(86_399), days: [.mon], dates: [31]), ScheduleRule(.every(10)),
                ScheduleRule(.every(86_400)), ScheduleRule(.sun(.sunset, offset: 43_200)),
                ScheduleRule(.sun(.sunrise, offset: -43_200), dates: [31]),
            ]
            let ends: [Int64] = [
                .min, .min + 1, -62_135_596_801, -62_135_596_800, -1 << 40, -1, 0, 1, 1 << 40, 253_402_300_798,
                253_402_300_799, 253_402_300_800, .max - 1, .max,
            ]
            for zone in zones {
                inZone(zone) { zone in
                    for rule in rules {
                        for end in ends {
                            let next = rule.next(after: end, at: (50, 10))
                            #expect(next.map { $0 > end } ?? (end > 253_000_000_000), "\(rule) after \(end)")
                            #expect(next.map { $0 > -62_135_596_800 && $0 <= 253_402_300_799 } ?? true)
                            for begin in ends {
                                let last = rule.last(after: begin, through: end, at: (50, 10))
                                #expect(last.map { $0 > begin && $0 <= end } ?? true)
                            }
                        }
                    }
                    for end in ends {
                        let moment = zone.moment(at: end)
                        #expect(zone.seconds(of: moment.date, secondOfDay: .max) >= -63_000_000_000)
                        #expect(zone.seconds(of: moment.date, secondOfDay: .min) <= 254_000_000_000)
                    }
                }
            }
        }

        @Test func `what can never run has no run, and an empty span has none`() {
            let rules = [
                ScheduleRule(.at(0), days: []), ScheduleRule(.at(0), dates: []), ScheduleRule(.at(0), dates: [0, 32]),
                ScheduleRule(.at(86_400)), ScheduleRule(.at(-1)), ScheduleRule(.every(5)), ScheduleRule(.every(0)),
                ScheduleRule(.every(-10)), ScheduleRule(.every(7)), ScheduleRule(.every(.min)),
                ScheduleRule(.every(.max)),
                ScheduleRule(.sun(.sunrise, offset: 43_201)), ScheduleRule(.sun(.sunrise, offset: .min)),
            ]
            for rule in rules {
                #expect(!rule.canRun)
                #expect(rule.next(after: 0, at: (50, 10)) == nil)
                #expect(rule.last(after: 0, through: 1 << 31, at: (50, 10)) == nil)
                _ = rule.moment.description
            }
            #expect(ScheduleRule(.at(0), days: [.mon], dates: [31, 40]).canRun)
            #expect(ScheduleRule(.every(10)).last(after: 1000, through: 1000, at: nil) == nil)
            #expect(ScheduleRule(.every(10)).last(after: 1000, through: 10, at: nil) == nil)
        }
    }
}
