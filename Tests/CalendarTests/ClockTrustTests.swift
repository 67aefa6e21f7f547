import Testing

@testable import Calendar

@Suite("Whether the wall clock is believed")
struct ClockTrustTests {
    private static let day: Int64 = 86_400_000
    private static let now: Int64 = 1_795_000_000_000

    private static func reading(_ wall: Int64, after boot: Int64) -> ClockReading {
        ClockReading(wall: wall, boot: boot)
    }

    @Test func `a clock that is a year ahead for a minute is not, and is again as soon as it is set back`() {
        var trust = ClockTrust(Self.reading(Self.now, after: 5000))
        #expect(trust.doubt(at: Self.reading(Self.now + 60_000, after: 65_000)) == nil)
        #expect(trust.doubt(at: Self.reading(Self.now + 120_000 + 365 * Self.day, after: 125_000)) == 365 * Self.day)
        #expect(trust.doubt(at: Self.reading(Self.now + 180_000, after: 185_000)) == nil)
    }

    @Test func `one that stays set is after a day`() {
        var trust = ClockTrust(Self.reading(Self.now, after: 0))
        let ahead = Self.now + 60_000 + 3 * Self.day
        #expect(trust.doubt(at: Self.reading(ahead, after: 60_000)) == 3 * Self.day)
        #expect(trust.doubt(at: Self.reading(ahead + Self.day - 1, after: 60_000 + Self.day - 1)) == 3 * Self.day)
        #expect(trust.doubt(at: Self.reading(ahead + Self.day, after: 60_000 + Self.day)) == nil)
        // Back to what was believed before is a step, too.
        #expect(trust.doubt(at: Self.reading(Self.now + Self.day + 60_000, after: Self.day + 120_000)) != nil)
    }

    @Test func `one that begins in 1970 is when it has been set, and not before`() {
        var trust = ClockTrust(Self.reading(86_400_000, after: 10_000))
        #expect(trust.doubt(at: Self.reading(86_460_000, after: 70_000)) == 0)
        #expect(trust.doubt(at: Self.reading(Self.now, after: 130_000)) == nil)
        #expect(!trust.hasRested(at: Self.reading(Self.now, after: 130_000)))
        #expect(trust.hasRested(at: Self.reading(Self.now + Self.day, after: 130_000 + Self.day)))
    }

    @Test func `small steps, a leap second and a slow drift are no matter`() {
        var trust = ClockTrust(Self.reading(Self.now, after: 0))
        var wall = Self.now
        for minute in 1...10_000 as ClosedRange<Int64> {
            wall += 61_000
            #expect(trust.doubt(at: Self.reading(wall, after: minute * 60_000)) == nil)
        }
    }
}
