import Dispatch
import Glibc
import Synchronization
import TestRig
import Testing

@testable import Concurrency

@Suite("A thread beside a loop")
struct SideThreadTests {
    @Test func `the peers take turns, and each one's results are in order`() async throws {
        let thread = SideThread<String>("side") {}
        let gate = DispatchSemaphore(value: 0)
        thread.run(for: "first") {
            gate.wait()
            return "first"
        }
        for number in 1...3 { thread.run(for: "bob") { "bob \(number)" } }
        thread.run(for: "ann") { "ann" }
        gate.signal()
        var values: [String] = []
        try await eventually("all are done") {
            values += thread.takeValues()
            return values.count == 5
        }
        #expect(values.first == "first" && values.filter { $0.hasPrefix("bob") } == ["bob 1", "bob 2", "bob 3"])
        #expect(try #require(values.firstIndex(of: "ann")) <= 2, "\(values)")
    }

    @Test func `what comes first waits for no peer's turn`() async throws {
        let thread = SideThread<String>("side") {}
        let gate = DispatchSemaphore(value: 0)
        thread.run(for: "ann") {
            gate.wait()
            return "ann"
        }
        for peer in ["bob", "eve"] { thread.run(for: peer) { peer } }
        for number in 1...2 { thread.runFirst { "own \(number)" } }
        gate.signal()
        var values: [String] = []
        try await eventually("all are done") {
            values += thread.takeValues()
            return values.count == 5
        }
        // The thread may have begun with them.
        #expect(values.filter { $0 != "ann" } == ["own 1", "own 2", "bob", "eve"], "\(values)")
    }

    @Test func `who may not have its turn holds up nobody, and has it later`() async throws {
        let isOpen = Atomic<Bool>(false)
        let thread = SideThread<String>("side", mayRun: { $0 != "bob" || isOpen.load(ordering: .relaxed) }) {}
        for number in 1...2 { thread.run(for: "bob") { "bob \(number)" } }
        thread.run(for: "ann") { "ann" }
        var values: [String] = []
        try await eventually("hers is done") {
            values += thread.takeValues()
            return values == ["ann"]
        }
        #expect(thread.waitingCount == 2)
        isOpen.store(true, ordering: .relaxed)
        thread.goOn()
        try await eventually("his are done") {
            values += thread.takeValues()
            return values == ["ann", "bob 1", "bob 2"]
        }
    }

    @Test func `without a thread jobs run where they are asked for, in turn, and may ask for others`() {
        let isOpen = Atomic<Bool>(false)
        let wakes = Atomic<Int>(0)
        let thread = SideThread<String>(
            "side",
            mayRun: { $0 != "bob" || isOpen.load(ordering: .relaxed) },
            wake: { wakes.add(1, ordering: .relaxed) },
            startThread: { _, _ in EAGAIN }
        )
        thread.run(for: "bob") { "bob" }
        #expect(thread.takeValues() == [], "it is not his turn")
        thread.run(for: "ann") { [unowned thread] in
            thread.run(for: "ann") { "ann 2" }
            return "ann, while \(thread.waitingCount) waits"
        }
        #expect(thread.takeValues() == ["ann 2", "ann, while 1 waits"])
        isOpen.store(true, ordering: .relaxed)
        thread.goOn()
        #expect(thread.takeValues() == ["bob"] && wakes.load(ordering: .relaxed) == 3)
    }

    @Test func `the loop is woken for each result, and the thread ends with the object`() async throws {
        final class Witness: Sendable {}
        let wakes = Atomic<Int>(0)
        weak var weakWitness: Witness?
        do {
            let witness = Witness()
            weakWitness = witness
            let thread = SideThread<Int>("side") { [witness] in
                wakes.add(1, ordering: .relaxed)
                withExtendedLifetime(witness) {}
            }
            for number in 0..<10 { thread.run(for: "") { number } }
            try await eventually("ten wake-ups") { wakes.load(ordering: .relaxed) == 10 }
        }
        try await eventually("the thread is gone") { weakWitness == nil }
    }
}
