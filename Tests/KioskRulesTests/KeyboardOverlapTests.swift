import KioskRules
import Testing

@Suite("An on-screen keyboard over a window")
struct KeyboardOverlapTests {
    private let window = KeyboardOverlap.Area(left: 100, top: 50, width: 800, height: 400)

    private func overlap(_ left: Int, _ top: Int, _ width: Int, _ height: Int) -> [Int] {
        let area = KeyboardOverlap.Area(left: left, top: top, width: width, height: height)
        let overlap = KeyboardOverlap(of: window, by: [area])
        return [overlap.top, overlap.bottom]
    }

    @Test func `one along an edge counts with what it covers of the window`() {
        #expect(overlap(100, 300, 800, 150) == [0, 150])
        #expect(overlap(0, 300, 2000, 500) == [0, 150])
        #expect(overlap(100, 0, 800, 150) == [100, 0])
        #expect(overlap(300, 400, 400, 50) == [0, 50])
    }

    @Test func `what floats, is narrow, lies beside or covers nearly all does not count`() {
        #expect(overlap(100, 200, 800, 100) == [0, 0])
        #expect(overlap(100, 300, 399, 150) == [0, 0])
        #expect(overlap(100, 450, 800, 150) == [0, 0])
        #expect(overlap(100, 100, 800, 350) == [0, 0])
        #expect(overlap(100, 50, 800, 400) == [0, 0])
    }
}
