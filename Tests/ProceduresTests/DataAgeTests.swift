import Calendar
import Configuration
import Foundation
import JSON
import QuickConnectClient
import Synchronization
import TestRig
import Testing

@testable import Procedures

/// What is deleted by its age, by a clock that is right, wrong for a while, or not set at all.
@Suite("Age of data")
struct DataAgeTests {
    private static let day: Int64 = 86_400_000
    private let folder: TestFolder
    private let start: Int64

    init() throws {
        folder = try TestFolder()
        start = try EntryDate("2026-11-27").milliseconds
    }

    /// A clock that the test moves.
    private final class TestClock: Sendable {
        private let state: Mutex<ClockReading>

        init(_ wall: Int64) { state = Mutex(ClockReading(wall: wall, boot: 10_000)) }

        var now: ClockReading { state.withLock { $0 } }

        /// - Parameter set: by how much the wall clock is set besides.
        func go(_ time: Int64, set: Int64 = 0) {
            state.withLock { $0 = ClockReading(wall: $0.wall + time + set, boot: $0.boot + time) }
        }
    }

    private func worker(_ clock: TestClock) -> DataWorker {
        var settings = ProcedureSettings()
        settings.record = [ProcedureSettings.Recorded(event: "temperature", keepSeconds: 90 * 86_400)]
        settings.dataKeepSeconds = 365 * 86_400
        return DataWorker(folder("data.db"), settings, AnswerQueue(), isChecked: false) { clock.now }
    }

    private func fill(_ kind: String, _ dates: [Int64]) throws {
        try folder.store().save(
            dates.map { Entry(date: try #require(EntryDate(milliseconds: $0)), kind: kind, source: "event") }
        )
    }

    private var count: Int64 { get throws { try folder.store().count(EntryQuery()) } }

    private func trim(_ worker: inout DataWorker) -> [String?] {
        var told: [String?] = []
        repeat {
            for case .doubts(let doubt) in worker.done(.trim) { told.append(doubt) }
        } while worker.hasMore
        return told
    }

    @Test func `a clock that is a year ahead for a while deletes nothing, which is told once`() throws {
        try fill("temperature", (0..<1000).map { start - Int64($0) * 60_000 })
        try fill("temperature", (0..<700).map { start - 100 * Self.day - Int64($0) })
        let clock = TestClock(start)
        var worker = worker(clock)
        #expect(trim(&worker).isEmpty)
        #expect(try count == 1000)
        clock.go(60_000, set: 366 * Self.day)
        let told = trim(&worker)
        #expect(told.count == 1 && told[0]?.contains("the clock was set by 366 days forward") == true, "\(told)")
        clock.go(60_000)
        #expect(trim(&worker).isEmpty)
        #expect(try count == 1000)
        clock.go(0, set: -366 * Self.day)
        #expect(trim(&worker) == [nil])
        #expect(try count == 1000)
        // One that stays so is believed the next day.
        clock.go(60_000, set: 400 * Self.day)
        #expect(trim(&worker).count == 1)
        clock.go(Self.day)
        #expect(trim(&worker) == [nil])
        #expect(try count == 0)
    }

    @Test func `what was recorded before the clock was set is not old`() throws {
        try fill("temperature", (0..<100).map { Self.day + $0 })
        try fill("temperature", [start - 91 * Self.day, start])
        let clock = TestClock(Self.day)
        var worker = worker(clock)
        #expect(trim(&worker).count == 1)
        clock.go(60_000, set: start - Self.day)
        #expect(trim(&worker) == [nil])
        #expect(try count == 101)
    }

    @Test func `at a start, a clock by which all would be too old is not believed for a day`() throws {
        try fill("temperature", (0..<10).map { start + $0 })
        let clock = TestClock(start + 500 * Self.day)
        var worker = worker(clock)
        let told = trim(&worker)
        #expect(told.count == 1 && told[0]?.contains("is the clock right?") == true, "\(told)")
        #expect(try count == 10)
        clock.go(Self.day)
        #expect(trim(&worker) == [nil])
        #expect(try count == 0)
    }

    @Test func `what a wrong clock has dated speaks for no clock after a start`() throws {
        try fill("temperature", (0..<10).map { start - $0 * 60_000 })
        // The clock was 400 days ahead for an hour, in which the service was started anew.
        let ahead = start + 400 * Self.day
        try fill("temperature", (0..<10).map { ahead + $0 * 60_000 } + [0])
        let clock = TestClock(ahead + 3_600_000)
        var worker = worker(clock)
        #expect(trim(&worker).count == 1)
        #expect(try count == 21)
        clock.go(60_000, set: -400 * Self.day)
        #expect(trim(&worker).count == 1)
        #expect(try count == 21)
    }

    @Test func `a clock that was never set doubts nothing of what it has dated`() throws {
        try fill("temperature", (0..<10).map { Self.day + $0 } + [start])
        var worker = worker(TestClock(start + 60_000))
        #expect(trim(&worker).isEmpty)
        #expect(try count == 11)
    }

    @Test func `a backup that was just made stays, also by a clock that was set back`() throws {
        try fill("temperature", [start])
        try FileManager.default.createDirectory(atPath: folder("backups"), withIntermediateDirectories: true)
        for year in 2030...2036 { try folder.write("", to: "backups/\(year)-01-01T000000.000Z.db") }
        var worker = worker(TestClock(start))
        let path = try worker.backUp().objectValue?["path"]?.stringValue
        let left = try FileManager.default.contentsOfDirectory(atPath: folder("backups")).sorted()
        #expect(left.count == 5 && left[0].hasPrefix("2026-11-27"), "\(left)")
        #expect(path == folder("backups/\(left[0])"))
    }
}
