import Testing

@testable import quickconnect_scripts

@Suite("Timers")
struct TimersTests {
    private let start = ContinuousClock.now
    private func at(_ milliseconds: Int) -> ContinuousClock.Instant { start + .milliseconds(milliseconds) }

    private func due(_ timers: inout Timers, at milliseconds: Int) -> [Int] {
        var due: [Int] = []
        while let timer = timers.takeDue(at: at(milliseconds)) { due.append(timer) }
        return due
    }

    @Test func `they are due in the order of their times, and of their start where those are the same`() {
        var timers = Timers(shortest: .milliseconds(1))
        timers.start(1, milliseconds: 20, repeats: false, at: start)
        timers.start(2, milliseconds: 10, repeats: false, at: start)
        timers.start(3, milliseconds: 10, repeats: false, at: start)
        #expect(timers.next == at(10))
        #expect(due(&timers, at: 9) == [])
        #expect(due(&timers, at: 20) == [2, 3, 1])
        #expect(timers.next == nil)
    }

    @Test func `one that repeats does not make up for moments that were missed`() {
        var timers = Timers(shortest: .milliseconds(1))
        timers.start(1, milliseconds: 10, repeats: true, at: start)
        #expect(due(&timers, at: 10) == [1])
        #expect(due(&timers, at: 95) == [1])
        #expect(due(&timers, at: 95) == [])
        #expect(due(&timers, at: 96) == [1])
    }

    @Test(arguments: [0, -5, .nan, -.infinity, .infinity, 0.4]) func `none is shorter than the shortest`(delay: Double)
    {
        var timers = Timers(shortest: .milliseconds(4))
        timers.start(1, milliseconds: delay, repeats: false, at: start)
        #expect(due(&timers, at: 3) == [])
        #expect(due(&timers, at: 4) == [1])
    }

    @Test func `one that was stopped is not due, and takes no room`() {
        var timers = Timers(shortest: .milliseconds(1))
        for id in 0..<10_000 {
            timers.start(id, milliseconds: 1e6, repeats: false, at: start)
            timers.stop(id)
        }
        timers.start(-1, milliseconds: 5, repeats: true, at: start)
        #expect(due(&timers, at: 5) == [-1])
        timers.stop(-1)
        #expect(due(&timers, at: 2_000_000) == [])
    }
}
