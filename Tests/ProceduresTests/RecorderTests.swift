import Testing

@testable import Procedures

@Suite("Recorder")
struct RecorderTests {
    private let start = ContinuousClock.now
    private let full = StoreError(.full, "no room")

    private func entry(_ number: Int) throws -> Entry {
        Entry(date: try #require(EntryDate(milliseconds: Int64(number))), kind: "door")
    }

    @Test func `events are written together, a little later`() throws {
        var recorder = EventRecorder()
        #expect(recorder.nextMoment == nil && recorder.takeBatch(at: start) == nil)
        for number in 0..<3 { recorder.take(try entry(number), at: start) }
        #expect(recorder.nextMoment == start + EventRecorder.pause)
        #expect(recorder.takeBatch(at: start) == nil)
        #expect(recorder.takeBatch(at: start + EventRecorder.pause)?.map(\.date.milliseconds) == [0, 1, 2])
        #expect(recorder.didSave(3) == nil && recorder.saved == 3)
    }

    @Test func `a burst goes batch after batch, in its order, one at a time`() throws {
        var recorder = EventRecorder()
        for number in 0..<2500 { recorder.take(try entry(number), at: start) }
        var written: [Int64] = []
        while let moment = recorder.nextMoment, let batch = recorder.takeBatch(at: moment) {
            #expect(recorder.takeBatch(at: moment + .seconds(9)) == nil && recorder.nextMoment == nil)
            written += batch.map(\.date.milliseconds)
            #expect(recorder.didSave(batch.count) == nil)
        }
        #expect(written == (0..<2500).map(Int64.init))
    }

    @Test
    func `who reads waits for what came before, which is written at once, and waits neither long nor for a full disk`()
        throws
    {
        var recorder = EventRecorder()
        #expect(recorder.hold(at: start) == nil)
        recorder.take(try entry(0), at: start)
        let first = recorder.hold(at: start)
        let hold = try #require(first)
        #expect(recorder.nextMoment == start)
        #expect(recorder.takeBatch(at: start)?.count == 1)
        recorder.take(try entry(1), at: start)
        #expect(!hold.isOver(recorder.settled, at: start))
        #expect(hold.isOver(recorder.settled, at: start + EventRecorder.patience))
        #expect(recorder.didSave(1) == nil)
        #expect(hold.isOver(recorder.settled, at: start))
        #expect(recorder.nextMoment == start + EventRecorder.pause, "nobody waits for the second")
        let second = recorder.hold(at: start)
        let taken = recorder.takeBatch(at: start)
        #expect(recorder.didNotSave(try #require(taken), full, at: start) == .stopped(full))
        #expect(second?.isOver(recorder.settled, at: start) == true && recorder.hold(at: start) == nil)
    }

    @Test func `a full disk is told once, what waits is kept in order, and it goes on`() throws {
        var recorder = EventRecorder()
        recorder.take(try entry(0), at: start)
        let taken1 = recorder.takeBatch(at: start, evenFew: true)
        let batch = try #require(taken1)
        recorder.take(try entry(1), at: start)
        #expect(recorder.didNotSave(batch, full, at: start) == .stopped(full))
        #expect(recorder.nextMoment == start + EventRecorder.retryPause)
        let taken2 = recorder.takeBatch(at: start + EventRecorder.retryPause)
        let again = try #require(taken2)
        #expect(again.map(\.date.milliseconds) == [0, 1])
        #expect(recorder.didNotSave(again, full, at: start + .seconds(2)) == nil)
        let taken3 = recorder.takeBatch(at: start + .seconds(4))
        _ = try #require(taken3)
        #expect(recorder.didSave(2) == .goesOn(lost: 0))
        #expect(recorder.problem == nil && recorder.pending.isEmpty)
    }

    @Test func `of too many the newest wait, and it is told how many are lost`() throws {
        var recorder = EventRecorder()
        recorder.take(try entry(0), at: start)
        let taken4 = recorder.takeBatch(at: start, evenFew: true)
        let batch = try #require(taken4)
        _ = recorder.didNotSave(batch, full, at: start)
        for number in 1...(EventRecorder.most + 10) { recorder.take(try entry(number), at: start) }
        #expect(recorder.pending.count <= EventRecorder.most)
        #expect(recorder.pending.last?.date.milliseconds == Int64(EventRecorder.most + 10))
        let taken5 = recorder.takeBatch(at: start + EventRecorder.retryPause)
        let next = try #require(taken5)
        #expect(recorder.didSave(next.count) == .goesOn(lost: EventRecorder.batch))
    }
}
