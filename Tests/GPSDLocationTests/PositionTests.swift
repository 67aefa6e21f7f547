import JSON
import Linux
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

    @Test func `a heading is less than 360, and none while the device stands`() {
        let headings: [(speed: Double, track: Double, heading: Double?)] = [
            (0, 10, nil), (1, 10, 10), (1, 360, 0), (.nan, 359.5, 359.5),
        ]
        for (speed, track, heading) in headings {
            var fix = good
            (fix.speed, fix.track) = (speed, track)
            #expect(fix.position(source: "x")?.heading == heading, "\(speed), \(track)")
        }
    }

    /// The position of a report with these members, too.
    private func read(_ members: String) throws -> Position {
        let line = #"{"class":"TPV","mode":3,"lat":47.5,"lon":8.5,\#(members)}"#
        guard case .fix(let fix) = try LineUnpacker().report(line, receiver: nil, at: nil) else {
            throw NotInTime(description: "no fix: \(line)")
        }
        return try #require(fix.position(source: "x"))
    }

    @Test func `an accuracy below zero is unknown, and a time that is not in gpsd's form`() throws {
        #expect(try read(#""epx":4,"epy":3"#).accuracy == 5 && read(#""epx":-1,"epy":3"#).accuracy == nil)
        #expect(try read(#""time":"2026-11-28T10:42:23Z""#).time == 1_795_862_543)
        #expect(try read(#""time":"2026-11-28T10:42:23.500Z""#).time == 1_795_862_543.5)
        for time in ["2026-11-28 10:42:23Z", "2026-11-28T10:42:23+01:00", "2026-11-28", ""] {
            #expect(try read(#""time":"\#(time)""#).time == nil, "\(time)")
        }
    }

    @Test func `the progress of a fix tells what is missing first`() {
        var progress = FixProgress()
        #expect(progress.stage == .unreachable)
        progress.connected()
        #expect(progress.stage == .frozen)
        progress.note(.service, at: 0)
        progress.note(.devices(0), at: 0)
        #expect(progress.stage == .noReceiver)
        progress.note(.devices(1), at: 0)
        #expect(progress.stage == .silent)
        progress.note(.sky(seen: 7, used: 2), at: 0)
        #expect(progress.stage == .noFix)
        var fix = good
        fix.mode = 1
        progress.note(.fix(fix), at: 0)
        let error = progress.error(.timeout, "gpsd", after: 3)
        #expect(error.message.contains("within 3.0 s") && error.message.contains("7 satellites seen and 2 used"))
        #expect(error.details["satellites"] == ["seen": 7, "used": 2] && error.details["reason"] == "noFix")
        for time in [good.time + 6, good.time - 6] {
            progress.note(.fix(good), at: time)
            #expect(progress.stage == .stale)
        }
        progress.note(.fix(good), at: good.time + 1)
        #expect(progress.stage == .no3DFix)
    }

    @Test func `who waits for no time is told that it was too short`() {
        var progress = FixProgress()
        for isConnected in [false, true] {
            if isConnected { progress.connected() }
            let error = progress.error(.timeout, "gpsd", after: 0)
            #expect(error.message == "no position within 0.0 s: that is too short for gpsd to answer")
            #expect(error.details["fix"] == nil)
        }
        #expect(progress.error(.timeout, "gpsd", after: 1).message.contains("is it stopped?"))
    }

    @Test func `what is not understood is said when it is gone, too`() {
        var progress = FixProgress()
        progress.connected()
        progress.note(.unreadable("HTTP/1.1 400\u{1B}"), at: 0)
        for _ in 0..<2 {
            #expect(progress.sentence("gpsd").hasSuffix(#"does not understand: "HTTP/1.1 400\u001B""#))
            progress.lost(PlainError("it closed the connection"))
        }
        progress.connected()
        #expect(progress.stage == .frozen && progress.sentence("gpsd").contains("is it stopped?"))
    }

    @Test func `a week counter that has begun anew is no matter of this device's clock`() {
        let epoch = 1024.0 * 7 * 86_400
        for (age, weeks) in [(epoch, "1024"), (2 * epoch - 3600, "2048"), (epoch + 3600, "1024")] {
            var progress = FixProgress()
            progress.note(.fix(good), at: good.time + age)
            #expect(progress.stage == .stale)
            #expect(progress.sentence("gpsd").contains("\(weeks) weeks old: its week counter has begun anew"))
            #expect(progress.inspect == "cgps")
        }
        for age in [epoch / 2, epoch - 2 * 86_400, -epoch, 60, .infinity] {
            var progress = FixProgress()
            var fix = good
            if age == .infinity { fix.time = .nan }
            progress.note(.fix(fix), at: good.time + min(age, 1e9))
            #expect(!progress.sentence("gpsd").contains("week counter"), "\(age)")
        }
    }

    @Test func `a receiver that tells something else is there, and has no fix`() {
        var progress = FixProgress()
        progress.connected()
        progress.note(.devices(1), at: 0)
        #expect(progress.stage == .silent)
        progress.note(.otherData, at: 0)
        progress.note(.devices(2), at: 0)
        #expect(progress.stage == .noFix)
        // Nor does it hide what was found out before.
        progress.note(.fix(good), at: good.time)
        progress.note(.otherData, at: 0)
        #expect(progress.stage == .no3DFix)
    }

    private func fix(_ receiver: String, mode: Int = 3, age: Double = 0) -> Report {
        var fix = good
        (fix.receiver, fix.mode, fix.time) = (receiver, mode, good.time - age)
        return .fix(fix)
    }

    @Test func `one receiver counts until it loses its fix or says nothing for 5 s`() {
        let start = ContinuousClock.now
        var choice = ReceiverChoice()
        func admits(_ report: Report, after seconds: Double) -> Bool {
            choice.admits(report, at: start + .seconds(seconds), now: good.time)
        }
        #expect(admits(fix("b", mode: 1), after: 0) && admits(fix("a"), after: 0))
        #expect(!admits(fix("b"), after: 1) && !admits(fix("b", mode: 1), after: 1) && admits(fix("a"), after: 2))
        #expect(!admits(fix("b"), after: 6.9) && admits(fix("b"), after: 7) && !admits(fix("a"), after: 8))
        #expect(admits(fix("b", mode: 1), after: 9) && admits(fix("a"), after: 9) && !admits(fix("b"), after: 9))
        // An old fix keeps nobody away.
        #expect(admits(fix("a", age: 60), after: 10) && admits(fix("b"), after: 10))
        #expect(admits(.service, after: 10) && admits(.devices(1), after: 10) && admits(.otherData, after: 10))
    }

    @Test func `satellites belong to the receiver that sees them, by the bytes of its name`() {
        var choice = ReceiverChoice()
        let now = ContinuousClock.now
        func admits(_ report: Report) -> Bool { choice.admits(report, at: now, now: good.time) }
        #expect(admits(fix("a")) && !admits(.sky(seen: 9, used: 8, receiver: "b")))
        #expect(admits(.sky(seen: 5, used: 4, receiver: "a")))
        #expect(choice.satellites(of: "a") == 4 && choice.satellites(of: "b") == 8 && choice.satellites(of: "c") == nil)
        #expect(admits(.sky(seen: 5, used: 0, receiver: "a")))
        #expect(choice.satellites(of: "a") == nil)
        for number in 0..<1000 { _ = admits(.sky(seen: 1, used: 1, receiver: "\(number)")) }
        let known = (0..<1000).count { choice.satellites(of: "\($0)") != nil }
        #expect(known <= 16)
    }
}
