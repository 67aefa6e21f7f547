import Concurrency
import Testing

@Suite("Fairness: turns and shares as values")
struct FairnessTests {
    @Test("peers take turns, however many members each has")
    func peers() {
        var ring = Ring<String, Int>()
        for member in 1...100 { ring.append(member, of: "many") }
        ring.append(1000, of: "one")
        #expect(turns(&ring, 5) == [1, 1000, 2, 3, 4])
        #expect(ring.count == 96)
    }

    @Test("the members of a peer take turns; one that comes back is the last")
    func members() {
        var ring = Ring<String, String>()
        for member in ["a", "b", "c"] { ring.append(member, of: "ann") }
        #expect(turns(&ring, 1) == ["a"])
        ring.append("a", of: "ann")
        #expect(turns(&ring, 4) == ["b", "c", "a", nil])
        #expect(ring.isEmpty)
    }

    @Test("a turn may be for some peers alone, and leaves the order of the others as it was")
    func some() {
        var ring = Ring<String, Int>()
        for (number, peer) in ["ann", "bob", "cy", "bob"].enumerated() { ring.append(number, of: peer) }
        #expect(ring.peers { $0 > 0 } == ["bob", "cy"])
        #expect(ring.next { $0 == "bob" } == 1)
        #expect(ring.next { $0 == "nobody" } == nil)
        #expect(ring.contains { $0 == "bob" } && !ring.contains { $0 == "nobody" })
        #expect(turns(&ring, 4) == [0, 2, 3, nil])
    }

    @Test("newcomers can have every other turn, and the others have theirs all the same")
    func newcomers() {
        var ring = Ring<String, Int>(newcomersFirst: true)
        for peer in 0..<3 { for member in 0..<4 { ring.append(100 * peer + member, of: "busy\(peer)") } }
        #expect(turns(&ring, 5) == [0, 100, 1, 200, 101])
        for number in 1...3 {
            ring.append(-number, of: "ann")
            #expect(ring.contains { $0 == "ann" })
            let two = turns(&ring, 2)
            #expect(two.contains(-number), "\(two)")
        }
        #expect(ring.count == 4)
        var bulk = Ring<String, Int>(newcomersFirst: true)
        for member in 1...10 { bulk.append(member, of: "bulk") }
        #expect(bulk.next() == 1)
        // Who comes anew each time takes half of the turns, not all.
        var taken: [Int?] = []
        for _ in 0..<3 {
            bulk.append(0, of: "ann")
            taken += turns(&bulk, 2)
        }
        #expect(taken == [0, 2, 0, 3, 0, 4])
        bulk.removeAll(of: "bulk") { _ in true }
        #expect(bulk.isEmpty && bulk.next() == nil)
        bulk.append(7, of: "ann")
        #expect(turns(&bulk, 2) == [7, nil])
    }

    @Test("who is gone has no turn, nor has a peer of which all are gone")
    func gone() {
        var ring = Ring<String, Int>()
        for member in 1...3 { ring.append(member, of: "ann") }
        ring.append(9, of: "bob")
        ring.removeAll(of: "ann") { $0 == 2 }
        ring.removeAll(of: "bob") { _ in true }
        ring.removeAll(of: "nobody") { _ in true }
        #expect(ring.count == 2)
        #expect(turns(&ring, 3) == [1, 3, nil])
    }

    @Test("a peer that is alone gets a quarter, scripts half", arguments: [(Share.quarter, 300), (.half, 600)])
    func alone(share: Share, expected: Int) {
        var budget = Budget<String>(limit: 1200)
        while !budget.isUsedUp(by: "ann", share) { budget.add(1, to: "ann") }
        #expect(budget.used(by: "ann") == expected)
        #expect(share.part(of: 1200) == expected)
    }

    @Test("however many peers take all they can, something is left for the next one", arguments: [1, 2, 5, 50, 500])
    func many(count: Int) {
        var budget = Budget<Int>(limit: 1 << 20)
        for round in 0..<10_000 {
            let peer = round % count
            _ = budget.take(1000, for: peer)
        }
        #expect(budget.used < budget.limit)
        #expect(budget.has(1, for: -1))
        let shares = (0..<count).map { budget.used(by: $0) }
        #expect((shares.max() ?? 0) - (shares.min() ?? 0) <= 1 << 14)
    }

    @Test("who uses nothing may take what is free at once, and no more until it is given back")
    func large() {
        var budget = Budget<String>(limit: 1000)
        #expect(!budget.has(1001, for: "ann"))
        let whole = budget.take(1000, for: "ann")
        #expect(whole)
        let more = budget.take(1, for: "ann")
        let others = budget.take(1, for: "bob")
        #expect(!more)
        #expect(!others)
        budget.add(-1000, to: "ann")
        let after = budget.take(1, for: "bob")
        #expect(after)
        #expect(budget.largest(2).count == 1)
    }

    @Test("the least that each peer may use is there even where others use all")
    func minimum() {
        var budget = Budget<String>(limit: 1000, minimum: 10)
        budget.add(2000, to: "ann")
        #expect(budget.isUsedUp(by: "ann"))
        #expect(!budget.isUsedUp(by: "bob"))
        let least = budget.take(10, for: "bob")
        #expect(least)
        let more = budget.take(1, for: "bob")
        #expect(!more)
        #expect(budget.largest(1).map(\.peer) == ["ann"])
    }

    @Test("what is counted in steps is taken off again, whatever was kept in between")
    func charge() {
        var charge = Charge(step: 100)
        #expect(charge.change(to: 99) == nil)
        #expect(charge.change(to: 250) == 250)
        #expect(charge.change(to: 200) == nil)
        #expect(charge.change(to: 60) == -250)
        #expect(charge.change(to: 0) == nil && charge.counted == 0)
        var sum = 0
        for amount in [500, 120, 130, 90, 15, 101, 3, 0] { sum += charge.change(to: amount) ?? 0 }
        #expect(sum == 0 && charge.counted == 0)
    }

    private func turns<Member>(_ ring: inout Ring<String, Member>, _ count: Int) -> [Member?] {
        (0..<count).map { _ in ring.next() }
    }
}
