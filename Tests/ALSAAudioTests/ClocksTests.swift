import Testing

@testable import ALSAAudio

@Suite struct PacerTests {
    private let start = SuspendingClock.now

    @Test func `it lets through what has been heard and the lead`() {
        let pacer = Pacer(start: start, rate: 1000, lead: 100)
        #expect(pacer.room(written: 0, at: start) == 100)
        #expect(pacer.room(written: 100, at: start) == 0)
        #expect(pacer.room(written: 100, at: start + .milliseconds(30)) == 30)
        #expect(pacer.elapsed(at: start + .seconds(2)) == 2000)
    }

    @Test func `it never gives negative room`() {
        #expect(Pacer(start: start, rate: 1000, lead: 0).room(written: 50, at: start) == 0)
    }
}

@Suite struct ProgressWatchTests {
    private let start = SuspendingClock.now

    @Test func `a PCM that plays is not frozen, one that does not is, after the patience`() {
        var watch = ProgressWatch(patience: .seconds(2), start: start)
        let checks = [(0, 1.9), (10, 1.95), (10, 3.9), (20, 3.94), (20, 5.9)].map { played, seconds in
            watch.isFrozen(played: played, at: start + .seconds(seconds))
        }
        #expect(!checks.contains(true))
        let isFrozen = watch.isFrozen(played: 20, at: start + .seconds(5.95))
        #expect(isFrozen)
    }
}

@Suite struct RecoveryBudgetTests {
    private let start = SuspendingClock.now

    @Test func `underruns of a busy machine are recovered for ever, and are one episode`() {
        var budget = RecoveryBudget()
        let decisions = (0..<1000).map { budget.decide(at: start + .milliseconds(100 * $0)) }
        #expect(decisions.first == .recover(isNewEpisode: true))
        #expect(decisions.dropFirst().allSatisfy { $0 == .recover(isNewEpisode: false) })
        #expect(budget.total == 1000)
    }

    @Test func `after a while without any, the next one is a new episode`() {
        var budget = RecoveryBudget()
        _ = budget.decide(at: start)
        let second = budget.decide(at: start + .seconds(6))
        #expect(second == .recover(isNewEpisode: true))
    }

    @Test func `recoveries that lead to nothing are given up`() {
        var budget = RecoveryBudget()
        let decisions = (0...RecoveryBudget.limit).map { budget.decide(at: start + .milliseconds(Int64($0))) }
        #expect(decisions.last == .giveUp)
        #expect(decisions.dropLast().allSatisfy { $0 != .giveUp })
    }
}
