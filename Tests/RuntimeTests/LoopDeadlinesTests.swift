import Testing

@testable import Runtime

@Suite struct LoopDeadlinesTests {
    private func time(_ milliseconds: UInt64) -> LoopTime { LoopTime(nanoseconds: milliseconds * 1_000_000) }

    /// What is due until a time, in its order.
    private func due(_ deadlines: inout LoopDeadlines, at time: LoopTime) {
        while let body = deadlines.next(at: time) { body() }
    }

    @Test func `what is due comes in the order of its times, and of one time in the order in which it was set`() {
        var deadlines = LoopDeadlines()
        var done: [Int] = []
        for (number, milliseconds) in [(1, 30), (2, 10), (3, 20), (4, 10)] {
            _ = deadlines.add(at: time(UInt64(milliseconds))) { done.append(number) }
        }
        #expect(deadlines.first() == time(10))
        due(&deadlines, at: time(9))
        #expect(done.isEmpty)
        due(&deadlines, at: time(20))
        #expect(done == [2, 4, 3])
        due(&deadlines, at: time(1000))
        #expect(done == [2, 4, 3, 1] && deadlines.first() == nil)
    }

    @Test func `what is cancelled is not done, and does not stay`() {
        var deadlines = LoopDeadlines()
        var done = 0
        for _ in 0..<10_000 { deadlines.add(at: time(1000)) { done += 1 }.cancel() }
        #expect(deadlines.entryCount < 200)
        let kept = deadlines.add(at: time(5)) { done += 1 }
        let late = deadlines.add(at: time(6)) { done += 1 }
        late.cancel()
        late.cancel()
        due(&deadlines, at: time(2000))
        #expect(done == 1 && deadlines.first() == nil)
        // What has been done cannot be cancelled any more, and counts for nothing.
        kept.cancel()
        #expect(deadlines.entryCount == 0)
    }

    @Test func `what is done may set something again`() {
        var deadlines = LoopDeadlines()
        var times = 0
        func again() {
            times += 1
            if times < 5 { _ = deadlines.add(at: time(1), again) }
        }
        _ = deadlines.add(at: time(1), again)
        while let body = deadlines.next(at: time(1)) { body() }
        #expect(times == 5)
    }
}
