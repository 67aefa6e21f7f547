import ProcedureSync
import Testing

@Suite("Pauses before a server is asked again")
struct BackoffTests {
    @Test func `they double up to the longest, and no two devices wait alike`() {
        var generator = SystemRandomNumberGenerator()
        for (attempt, full) in [(1, 5.0), (2, 10), (3, 20), (7, 300), (1000, 300)] {
            let pauses = (0..<100).map { _ in Backoff().seconds(before: attempt, by: &generator) }
            #expect(pauses.allSatisfy { (full / 2...full).contains($0) }, "\(attempt)")
            #expect(Set(pauses).count > 90)
        }
    }
}
