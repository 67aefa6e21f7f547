import Configuration
import Testing

@testable import quickconnect_scripts

@Suite("The share of a core")
struct ShareWindowTests {
    private let start = ContinuousClock.now

    /// Feeds a sample each 100 ms, and gives the times at which the limit was exceeded, in tenths of a second.
    private func exceeded(_ share: Int, over seconds: Double, _ cpu: (Int) -> Double, for tenths: Int) -> [Int] {
        var limits = ScriptLimits()
        limits.sharePercent = share
        limits.shareSeconds = seconds
        var window = ShareWindow(limits)
        return (0...tenths).filter { window.isExceeded(at: start + .milliseconds(100 * $0), cpu: cpu($0)) }
    }

    @Test func `less than the limit is allowed for ever`() {
        #expect(exceeded(80, over: 1, { Double($0) * 0.1 * 0.79 }, for: 1000) == [])
    }

    @Test func `more ends it as soon as a whole window is full of it`() {
        #expect(exceeded(80, over: 1, { Double($0) * 0.1 * 0.9 }, for: 100).first == 10)
    }

    @Test func `a burst within a window is allowed`() {
        #expect(exceeded(50, over: 2, { min(Double($0) * 0.1, 0.9) }, for: 100) == [])
    }

    @Test func `a window slides, so that later use counts as much as early use`() {
        // Idle for 5 s, then busy.
        #expect(exceeded(50, over: 2, { max(0, Double($0) * 0.1 - 5) }, for: 100).first.map { 60...62 ~= $0 } == true)
    }

    @Test func `samples that come too soon are left out`() {
        var window = ShareWindow(ScriptLimits())
        let exceeded = (0..<100).map { window.isExceeded(at: start + .milliseconds($0), cpu: 1000 * Double($0)) }
        #expect(!exceeded.contains(true))
    }
}
