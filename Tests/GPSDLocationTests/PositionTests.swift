import JSON
import QuickConnect
import TestRig
import Testing

@testable import GPSDLocation

@Suite struct PositionTests {
    private let good = RawFix(mode: 3, time: 1_000_000, latitude: 51.5, longitude: -0.1, altitude: 12)

    @Test func `a fix is a position by its mode and by possible values`() {
        #expect(good.position(source: "x")?.altitude == 12)
        for mode in [-1, 0, 1] {
            var fix = good
            fix.mode = mode
            #expect(fix.position(source: "x") == nil)
        }
        let wrong: [WritableKeyPath<RawFix, Double>: [Double]] = [
            \.latitude: [.nan, .infinity, 9999, 90.001, -90.001],
            \.longitude: [.nan, -.infinity, 99_999, 180.001, -180.001],
        ]
        for (path, values) in wrong {
            for value in values {
                var fix = good
                fix[keyPath: path] = value
                #expect(fix.position(source: "x") == nil)
            }
        }
    }

    @Test func `an impossible value is an unknown one`() {
        var fix = good
        (fix.altitude, fix.speed, fix.track, fix.time, fix.horizontalError) = (1e308, -1, 400, 0, .nan)
        let position = fix.position(source: "x")
        #expect(position != nil && position?.altitude == nil && position?.speed == nil && position?.heading == nil)
        #expect(position?.time == nil && position?.accuracy == nil && position?.age(at: 5) == .infinity)
        fix = good
        fix.mode = 2
        #expect(fix.position(source: "x")?.altitude == nil)
    }

    @Test func `a sight tells the first link that is broken`() {
        var sight = Sight()
        #expect(sight.link == .unreachable)
        sight.connected()
        #expect(sight.link == .frozen)
        sight.note(.version, at: 0)
        sight.note(.devices(0), at: 0)
        #expect(sight.link == .noReceiver)
        sight.note(.devices(1), at: 0)
        #expect(sight.link == .silent)
        sight.note(.sky(seen: 7, used: 2), at: 0)
        var fix = good
        fix.mode = 1
        sight.note(.fix(fix), at: 0)
        let error = sight.error(.timeout, "gpsd", after: 3)
        #expect(error.message.contains("within 3.0 s") && error.message.contains("7 satellites seen and 2 used"))
        #expect(error.details["satellites"] == ["seen": 7, "used": 2] && error.details["reason"] == "noFix")
        for time in [good.time + 6, good.time - 6] {
            sight.note(.fix(good), at: time)
            #expect(sight.link == .stale)
        }
        sight.note(.fix(good), at: good.time + 1)
        #expect(sight.link == .no3DFix)
    }
}
