import QuickConnect
import Synchronization
import TestRig
import Testing

@testable import Concurrency

@Suite("Alarms, and the threads that run tasks")
struct AlarmThreadTests {
    @Test func `alarms ring in the order of their times, and those of one time in the order they were set`()
        async throws
    {
        let alarms = AlarmThread()
        let rung = Mutex<[String]>([])
        for (name, time) in [("c", 1000), ("a", 20), ("d", 1000), ("b", 500)] {
            alarms.ring(after: .milliseconds(time)) { rung.withLock { $0.append(name) } }
        }
        try await eventually("all have rung") { rung.withLock { $0.count } == 4 }
        #expect(rung.withLock { $0 } == ["a", "b", "c", "d"])
    }

    @Test func `an alarm rings no sooner than it was set for, and one whose time is over at once`() async throws {
        let alarms = AlarmThread()
        let begin = ContinuousClock.now
        let (late, early) = (Promise<Duration>(), Promise<Duration>())
        alarms.ring(after: .milliseconds(200)) { late.fulfil(begin.duration(to: .now)) }
        alarms.ring(after: .seconds(-1)) { early.fulfil(begin.duration(to: .now)) }
        let (first, second) = (try await early.value(), try await late.value())
        #expect(first < second && second >= .milliseconds(199))
    }

    @Test func `what is cancelled does not ring, and is not kept`() async throws {
        let alarms = AlarmThread()
        let rung = Atomic<Int>(0)
        for _ in 0..<10_000 {
            alarms.cancel(alarms.set(after: .seconds(3600)) { rung.add(1, ordering: .relaxed) })
        }
        alarms.cancel(alarms.set(after: .milliseconds(10)) { rung.add(1, ordering: .relaxed) })
        let last = Promise<Void>()
        alarms.ring(after: .milliseconds(100)) { last.fulfil(()) }
        try await last.value()
        #expect(rung.load(ordering: .relaxed) == 0)
        #expect(alarms.count <= 128)
    }

    @Test func `a promise that nobody settles is a timeout, one that is settled keeps no alarm`() async throws {
        let code = await #expect(throws: CommandError.self) {
            try await Promise<Int>().value(before: .now + .milliseconds(20))
        }
        #expect(code?.code == .timeout)
        let settled = Promise<Int>()
        settled.fulfil(7)
        #expect(try await settled.value(before: .now + .seconds(3600)) == 7)
    }

    @Test func `tasks and their children run on the pool's threads`() async throws {
        let pool = try #require(ThreadPool(name: "test-pool", count: 2))
        let names = await Task(executorPreference: pool) {
            await withTaskGroup(of: String.self) { group in
                for _ in 0..<100 {
                    group.addTask {
                        await Task.yield()
                        return Self.threadName
                    }
                }
                return await group.reduce(into: Set<String>()) { $0.insert($1) }
            }
        }.value
        #expect(names == ["test-pool"])
        #expect(pool.progress.waiting == 0 && pool.progress.taken >= 100)
    }

    /// The name of the thread that asks.
    private static var threadName: String { ThreadList.ownName }
}
