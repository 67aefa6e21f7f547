import Testing

@testable import SyntaxChecking

@Suite("The order in which texts are checked")
struct CheckOrderTests {
    private let start = ContinuousClock.now

    /// All texts, in their order.
    private func drained(_ order: inout CheckOrder<String>) -> [String] {
        var texts: [String] = []
        while let text = order.next(at: start) { texts.append(text) }
        return texts
    }

    @Test func `callers take turns`() {
        var order = CheckOrder<String>()
        for text in ["a1", "a2"] { order.append(text, of: "ann") }
        order.append("b1", of: "bob")
        #expect(drained(&order) == ["a1", "b1", "a2"])
    }

    @Test func `who has taken much comes after others, but not after all of them`() {
        var order = CheckOrder<String>()
        order.charge(5, to: "ann", at: start)
        for number in 1...2 { order.append("a\(number)", of: "ann") }
        for number in 1...40 { order.append("\(number)", of: "caller \(number)") }
        let texts = drained(&order)
        #expect(texts.firstIndex(of: "a1") == 8 && texts.firstIndex(of: "a2") == 17)
        #expect(texts.filter { !$0.hasPrefix("a") } == (1...40).map(String.init))
    }

    @Test func `whose cost is forgiven waits no longer, and its texts stay in their order`() {
        var order = CheckOrder<String>()
        order.charge(0.15, to: "ann", at: start)
        order.append("a1", of: "ann")
        order.append("b1", of: "bob")
        #expect(order.next(at: start) == "b1")
        for text in ["b2", "b3"] { order.append(text, of: "bob") }
        order.append("a2", of: "ann")
        let later = start + .seconds(1)
        #expect((1...4).compactMap { _ in order.next(at: later) } == ["a1", "b2", "a2", "b3"])
    }

    @Test func `the host's own texts never come later`() {
        var order = CheckOrder<String>()
        order.charge(5, to: "", at: start)
        order.charge(5, to: "ann", at: start)
        order.append("a1", of: "ann")
        order.append("own", of: "")
        #expect(drained(&order) == ["own", "a1"])
    }
}
