import Linux
import Testing

@Suite("Pauses before a service is asked again")
struct BackoffTests {
    @Test func `a daemon that refuses a client is asked less and less often, until a connection lasts`() {
        var backoff = Backoff()
        #expect(!backoff.hasFailed)
        let pauses = (0..<60).map { _ in backoff.lost(after: .zero) }
        #expect(pauses.first == .milliseconds(50) && pauses.last == .seconds(5) && backoff.hasFailed)
        #expect(zip(pauses, pauses.dropFirst()).allSatisfy { $0 <= $1 })
        #expect(backoff.lost(after: .seconds(2)) == .milliseconds(50))
        #expect(backoff.failed() > .milliseconds(50))
    }

    @Test func `a daemon that is there again is found after a tenth of its absence`() {
        var (backoff, absence) = (Backoff(), Duration.zero)
        while absence < .seconds(30) {
            let pause = backoff.failed()
            #expect(pause < .milliseconds(51) + absence / 10)
            absence += pause
        }
    }

    @Test func `they double up to the longest, and no two devices wait alike`() {
        var generator = SystemRandomNumberGenerator()
        for (attempt, full) in [(1, 5.0), (2, 10), (3, 20), (7, 300), (1000, 300)] {
            let pauses = (0..<100).map { _ in
                var backoff = Backoff(first: .seconds(5), max: .seconds(300))
                for _ in 1..<attempt { _ = backoff.failed() }
                return backoff.failed(by: &generator) / .seconds(1)
            }
            #expect(pauses.allSatisfy { (full / 2...full).contains($0) }, "\(attempt)")
            #expect(Set(pauses).count > 90)
        }
    }
}
