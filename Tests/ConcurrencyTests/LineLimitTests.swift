import Concurrency
import Testing

@Suite("How much a log takes")
struct LineLimitTests {
    @Test func `so many bytes in each second, and the rest is counted and told once the second is over`() {
        var meter = LineLimit(100, in: .seconds(1))
        let start = ContinuousClock.now + .seconds(2)
        let takes = [(60, 0), (60, 500), (40, 600), (1, 700)].map { meter.takes($0.0, at: start + .milliseconds($0.1)) }
        // A shorter line may still fit.
        #expect(takes == [true, false, true, false])
        #expect(meter.tellsAt == start + .seconds(1))
        let told = [900, 1000, 1000].map { meter.takeUntold(at: start + .milliseconds($0)) }
        #expect(told == [nil, 2, nil])
        let next = meter.takes(100, at: start + .seconds(1))
        #expect(next && meter.dropped == 2 && meter.tellsAt == nil)
    }

    @Test func `a period begins with its first line`() {
        var refusals = LineLimit.refusals
        let start = ContinuousClock.now + .seconds(60)
        let takes = [0, 9, 10, 11, 25, 34].map { refusals.takes(at: start + .seconds($0)) }
        #expect(takes == [true, false, true, false, true, false])
    }
}
