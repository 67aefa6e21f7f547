import Calendar
import Glibc
import JSON
import QuickConnect
import Testing

@testable import quickconnectd

/// In UTC, with moments on 2026-11-25, a Wednesday. Hours are counted from its midnight.
@Suite("Which schedule runs when", .serialized)
struct ScheduleBookTests {
    private static let midnight: Int64 = 1_795_564_800
    private static func hour(_ hours: Double) -> Int64 { midnight + Int64(hours * 3600) }
    private static let built = midnight - 86_400 * 30

    init() {
        setenv("TZ", "UTC", 1)
        tzset()
    }

    private func schedule(_ moment: ScheduleRule.Moment, runsMissed: Bool = false) -> ScheduleDeclaration {
        ScheduleDeclaration(ScheduleRule(moment), runsMissed: runsMissed)
    }

    /// «night» at 22:00 leaves out what it misses, «report» at 22:00 does not.
    private func book(
        _ records: ScheduleRecords = ScheduleRecords(),
        at hours: Double,
        place: ScheduleBook.Place? = nil
    ) -> ScheduleBook {
        var book = ScheduleBook(records, built: Self.built, now: Self.hour(hours), place: place)
        _ = book.adopt(
            [
                (name: "night", declaration: schedule(.at(22 * 3600))),
                (name: "report", declaration: schedule(.at(22 * 3600), runsMissed: true)),
            ],
            now: Self.hour(hours)
        )
        return book
    }

    /// What is kept of a book whose clock is set.
    private func kept(_ book: ScheduleBook, at hours: Double, isLast: Bool = false) throws -> ScheduleRecords {
        try #require(book.kept(at: Self.hour(hours), isLast: isLast))
    }

    private func names(_ due: [ScheduleBook.Due]) -> [String] {
        due.map { "\($0.name)\($0.isMissed ? " missed" : "") \(Double($0.planned - Self.midnight) / 3600)" }
    }

    private func advance(_ book: inout ScheduleBook, to hours: Double, jumped: Bool = false) -> [String] {
        names(book.advance(to: Self.hour(hours), jumped: jumped))
    }

    @Test func `each runs at its time, once, and knows its next one`() {
        var book = book(at: 20)
        #expect(book.wake == Self.hour(22))
        #expect(advance(&book, to: 21.99) == [])
        #expect(advance(&book, to: 22) == ["night 22.0", "report 22.0"])
        #expect(advance(&book, to: 22) == [])
        #expect(book.wake == Self.hour(46))
        #expect(book.report(of: "night")?.next == Self.hour(46))
        #expect(advance(&book, to: 46.01) == ["night 46.0", "report 46.0"])
        #expect(book.report(of: "day") == nil)
    }

    @Test func `a clock that is set back runs nothing twice`() {
        var book = book(at: 20)
        #expect(advance(&book, to: 22).count == 2)
        #expect(advance(&book, to: 21, jumped: true) == [])
        #expect(book.wake == Self.hour(46))
        #expect(advance(&book, to: 22) == [])
        #expect(advance(&book, to: 23) == [])
        #expect(advance(&book, to: 46).count == 2)
    }

    @Test func `a clock that is set back without a word runs nothing twice`() {
        var book = book(at: 20)
        #expect(advance(&book, to: 22.01).count == 2)
        #expect(advance(&book, to: 22.5) == [])
        #expect(advance(&book, to: 19) == [])
        #expect(advance(&book, to: 22.25) == [])
        #expect(advance(&book, to: 46) == ["night 46.0", "report 46.0"])
    }

    @Test func `what a clock that is set forward leaves out is missed, and made up for once where that is said`() {
        var book = book(at: 20)
        #expect(advance(&book, to: 71, jumped: true) == ["report missed 70.0"])
        #expect(advance(&book, to: 71.5) == [])
        #expect(advance(&book, to: 94).count == 2)
    }

    @Test func `a clock that was wrong for a year does not keep schedules from their times`() {
        var book = book(at: 20)
        #expect(advance(&book, to: 24 * 365, jumped: true) == ["report missed 8758.0"])
        #expect(advance(&book, to: 24 * 365 + 22).count == 2)
        #expect(advance(&book, to: 21, jumped: true) == [])
        #expect(book.wake == Self.hour(22))
        #expect(advance(&book, to: 22) == ["night 22.0", "report 22.0"])
        // The year comes, and with it the times that the clock has shown before.
        #expect(advance(&book, to: 24 * 365 - 1, jumped: true) == ["report missed 8758.0"])
        #expect(advance(&book, to: 24 * 365 + 22.5) == [])
        #expect(advance(&book, to: 24 * 365 + 46).count == 2)
    }

    @Test func `a run that is late by a minute is on time, a later one is missed`() {
        var (soon, late) = (book(at: 20), book(at: 20))
        #expect(advance(&soon, to: 22 + 1.0 / 60, jumped: true) == ["night 22.0", "report 22.0"])
        #expect(names(late.advance(to: Self.hour(22) + 61, jumped: true)) == ["report missed 22.0"])
    }

    @Test func `a clock that is not set keeps all waiting`() {
        var records = ScheduleRecords()
        records.newest = Self.hour(19)
        for (before, after) in [(-24.0 * 400, 20.0), (18, 20)] {
            var book = book(records, at: before)
            #expect(!book.isClockSet && book.report(of: "night")?.next == nil)
            #expect(book.wake == Self.hour(19))
            #expect(advance(&book, to: before + 0.5) == [])
            #expect(advance(&book, to: after, jumped: true) == [])
            #expect(book.isClockSet && book.wake == Self.hour(22))
            #expect(advance(&book, to: 22).count == 2)
        }
        // Once it was right, only a time before the build is wrong.
        var book = book(records, at: 20)
        #expect(advance(&book, to: 15, jumped: true) == [] && book.isClockSet)
        #expect(advance(&book, to: -24 * 400, jumped: true) == [] && !book.isClockSet)
        #expect(advance(&book, to: 21, jumped: true) == [] && book.isClockSet)
        #expect(advance(&book, to: 22).count == 2)
    }

    @Test func `what has run before the clock was lost is not run again when it is found`() throws {
        var book = book(at: 20)
        #expect(advance(&book, to: 22).count == 2)
        #expect(advance(&book, to: -24 * 400, jumped: true) == [] && !book.isClockSet)
        // Nothing is known meanwhile that the file has not.
        #expect(book.kept(at: Self.hour(-24 * 400), isLast: true) == nil)
        #expect(advance(&book, to: 21, jumped: true) == [] && book.isClockSet)
        #expect(book.wake == Self.hour(46))
        #expect(advance(&book, to: 22.001) == [])
        // What came while it was lost is missed.
        #expect(advance(&book, to: -24 * 400, jumped: true) == [])
        #expect(advance(&book, to: 60, jumped: true) == ["report missed 46.0"])
    }

    @Test func `a rule that changed while the power was off has missed nothing, whatever the clock says`() throws {
        var records = try kept(self.book(at: 20), at: 20)
        records.runs["report"]?.words = "at 21:00"
        for start in [60.0, -9600.0] {
            var book = book(records, at: start)
            #expect(advance(&book, to: 60, jumped: start < 0) == [], "\(start)")
        }
        // And one that did not has.
        var same = book(try kept(self.book(at: 20), at: 20), at: -24 * 400)
        #expect(advance(&same, to: 60, jumped: true) == ["report missed 46.0"])
    }

    @Test func `another time zone makes up for nothing`() {
        var book = book(at: 20)
        #expect(advance(&book, to: 22).count == 2)
        setenv("TZ", "America/New_York", 1)
        defer {
            setenv("TZ", "UTC", 1)
            tzset()
        }
        book.changeZone(now: Self.hour(39))
        #expect(advance(&book, to: 39) == [])
        #expect(book.wake == Self.hour(51))
    }

    @Test func `a run that the end cut off is told as cancelled`() throws {
        var first = book(at: 20)
        first.begin("night", at: Self.hour(22))
        let after = book(try kept(first, at: 22, isLast: true), at: 23)
        #expect(after.report(of: "night")?.result == "cancelled")
    }

    @Test func `a restart at the time of a run loses it not, and does it once`() throws {
        var first = book(at: 20)
        #expect(advance(&first, to: 21.9) == [])
        var second = book(try kept(first, at: 21.995, isLast: true), at: 22.005)
        #expect(advance(&second, to: 22.005) == ["night 22.0", "report 22.0"])
        var third = book(try kept(second, at: 22.006, isLast: true), at: 22.007)
        #expect(advance(&third, to: 22.007) == [])
        #expect(third.report(of: "night")?.next == Self.hour(46))
    }

    @Test func `after a power cut a run is made up for where that is said, and what was noted is not done again`()
        throws
    {
        var first = book(at: 20)
        let early = try kept(first, at: 20)
        #expect(advance(&first, to: 22).count == 2)
        let noted = try kept(first, at: 22)
        // Between the note and the run, or behind both.
        for hours in [22.001, 23, 45] {
            var after = book(noted, at: hours)
            #expect(advance(&after, to: hours) == [], "at \(hours)")
        }
        // Before the note.
        for (hours, runs) in [(22.001, ["report 22.0"]), (23, ["report missed 22.0"]), (60, ["report missed 46.0"])] {
            var after = book(early, at: hours)
            #expect(advance(&after, to: hours) == runs, "at \(hours)")
        }
        // What was declared while the power was off has missed nothing.
        var records = early
        records.runs = [:]
        var new = book(records, at: 60)
        #expect(advance(&new, to: 60) == [])
    }

    @Test func `a reload neither runs nor forgets a run`() {
        var book = book(at: 20)
        func adopt(_ declared: [(name: String, declaration: ScheduleDeclaration)], at hours: Double) -> Bool {
            book.adopt(declared, now: Self.hour(hours))
        }
        let night = (name: "night", declaration: schedule(.at(22 * 3600)))
        #expect(adopt([night], at: 21))
        #expect(book.count == 1 && book.wake == Self.hour(22))
        // At the very second, before the timer's turn.
        #expect(!adopt([night], at: 22))
        #expect(advance(&book, to: 22) == ["night 22.0"])
        #expect(adopt([(name: "night", declaration: schedule(.at(21 * 3600)))], at: 22.5))
        #expect(advance(&book, to: 22.5) == [])
        #expect(book.wake == Self.hour(45))
        #expect(adopt([], at: 22.6) && book.isEmpty && book.wake == nil)
    }

    @Test func `one each ten seconds runs 8,640 times a day`() {
        var book = ScheduleBook(ScheduleRecords(), built: Self.built, now: Self.midnight)
        _ = book.adopt([(name: "tick", declaration: schedule(.every(10)))], now: Self.midnight)
        var count = 0
        while let wake = book.wake, wake <= Self.hour(24) {
            count += book.advance(to: wake).count
        }
        #expect(count == 8640)
    }

    @Test func `the sun needs a place`() throws {
        var book = ScheduleBook(ScheduleRecords(), built: Self.built, now: Self.midnight)
        _ = book.adopt([(name: "dawn", declaration: schedule(.sun(.sunrise, offset: 0)))], now: Self.midnight)
        #expect(book.lacksPlace && book.wake == nil && book.report(of: "dawn") == ScheduleBook.Report())
        book.move(to: (latitude: 51.5, longitude: 0), now: Self.midnight)
        // 07:36 in London.
        #expect(!book.lacksPlace)
        #expect(abs((book.wake ?? 0) - Self.hour(7.6)) < 180)
        let again = ScheduleBook(try kept(book, at: 0, isLast: true), built: Self.built, now: Self.midnight)
        #expect(again.place?.latitude == 51.5)
    }

    @Test func `what is kept is read as it was written, and rubbish is nothing`() throws {
        var book = book(at: 20)
        _ = advance(&book, to: 22)
        book.begin("night", at: Self.hour(22))
        book.end("night", with: "timeout")
        let records = try kept(book, at: 22, isLast: true)
        #expect(ScheduleRecords(records.json) == records)
        #expect(self.book(records, at: 23).report(of: "night")?.result == "timeout")
        let wrong: JSONValue = ["version": 1, "spans": [[3, 1], 7, ["a"]], "runs": [1]]
        #expect(ScheduleRecords(wrong) == ScheduleRecords())
        for rubbish in [.null, [], ["version": 2, "newest": 7]] as [JSONValue] {
            #expect(ScheduleRecords(rubbish) == nil)
        }
    }
}
