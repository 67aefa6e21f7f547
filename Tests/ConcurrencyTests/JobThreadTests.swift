import Synchronization
import TestRig
import Testing

@testable import Concurrency

@Suite struct JobThreadTests {
    private final class Sleeper: TurnTaker {
        func turn(_ waker: Waker) { _ = waker.sleep(until: nil) }
    }

    @Test func `whoever waits for a job that cannot run hears why, and the other jobs wait for a thread`() async throws
    {
        let fails = Atomic<Bool>(true)
        let thread = JobThread<Sleeper>("jobs") { (name, body) throws(Interruption) in
            if fails.load(ordering: .relaxed) { throw Interruption(.unavailable, "no thread") }
            try PThread.run(name, body)
        }
        let told = Mutex<[String]>([])
        func run(_ name: String, isAwaited: Bool) throws {
            let dropped: @Sendable (Interruption) -> Void = { error in told.withLock { $0.append("\(name): \(error)") }
            }
            let job: @Sendable (Sleeper) -> Void = { _ in told.withLock { $0.append(name) } }
            try thread.run(job, else: isAwaited ? dropped : nil) { Sleeper() }
        }
        #expect(throws: Interruption.self) { try run("one", isAwaited: false) }
        #expect(throws: Interruption.self) { try run("two", isAwaited: true) }
        #expect(told.withLock { $0 } == ["two: no thread"])
        fails.store(false, ordering: .relaxed)
        try run("three", isAwaited: true)
        let ran = await thread.ask(within: hangGuard, isLast: true) { _ in told.withLock { $0 } }
        #expect(ran == ["two: no thread", "one", "three"])
        try run("four", isAwaited: true)
        #expect(told.withLock { $0 }.last == "four: this device is being closed")
    }
}
