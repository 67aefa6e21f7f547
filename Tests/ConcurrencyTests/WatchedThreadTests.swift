import QuickConnect
import Synchronization
import TestRig
import Testing

@testable import Concurrency

@Suite struct WatchedThreadTests {
    /// Something that a job waits for, as a call of libasound would.
    private func job(
        _ step: String,
        _ promise: Promise<Void>,
        _ work: @escaping @Sendable () -> Void = {}
    ) -> WatchedThread.Job {
        WatchedThread.Job(
            step: step,
            work: {
                work()
                promise.fulfil(())
            },
            giveUp: { promise.fail($0) }
        )
    }

    @Test func `jobs run one after the other, in order`() async throws {
        let thread = WatchedThread(name: "qc-test", subject: "the sound system", deadline: .seconds(10))
        let order = Mutex<[Int]>([])
        let promises = (0..<50).map { _ in Promise<Void>() }
        for (number, promise) in promises.enumerated() {
            try thread.run(job("\(number)", promise) { order.withLock { $0.append(number) } })
        }
        for promise in promises { try await promise.value() }
        #expect(order.withLock { $0 } == Array(0..<50))
        await thread.end()
    }

    @Test func `a blocked job is given up with those behind it, new ones are refused until it returns`() async throws {
        let thread = WatchedThread(name: "qc-test", subject: "the sound system", deadline: .milliseconds(200))
        let gate = Gate()
        let blocked = Promise<Void>()
        let behind = Promise<Void>()
        try thread.run(job("blocking", blocked) { gate.pass() })
        try thread.run(job("behind", behind))
        #expect(await outcome(blocked).code == .timeout)
        #expect(await outcome(behind).code == .timeout)

        let refused = #expect(throws: CommandError.self) { try thread.run(job("late", Promise())) }
        #expect(refused?.code == .unavailable && refused?.message.contains("blocking") == true)

        gate.open()
        try await eventually("it takes jobs again") {
            let again = Promise<Void>()
            do { try thread.run(job("again", again)) } catch { return false }
            return await outcome(again).code == nil
        }
        await thread.end()
    }

    @Test func `a job that shows signs of life is not given up`() async throws {
        let thread = WatchedThread(name: "qc-test", subject: "the sound system", deadline: .seconds(2))
        let promise = Promise<Void>()
        let pause = Monitor(())
        try thread.run(
            job("long", promise) {
                for step in 0..<25 {
                    #expect(thread.proceed(to: "step \(step)"))
                    let end = SuspendingClock.now + .milliseconds(100)
                    pause.wait { _ in SuspendingClock.now >= end ? .go(()) : .wait(until: end) }
                }
            }
        )
        try await promise.value()
        await thread.end()
    }

    @Test func `after the end jobs are refused, and ending again is fine`() async throws {
        let thread = WatchedThread(name: "qc-test", subject: "the sound system", deadline: .seconds(10))
        let promise = Promise<Void>()
        try thread.run(job("first", promise))
        await thread.end()
        #expect(await outcome(promise).code == nil)
        let refused = #expect(throws: CommandError.self) { try thread.run(job("late", Promise())) }
        #expect(refused?.code == .cancelled)
        await thread.end()
    }

    @Test func `ending does not wait for a blocked job longer than the deadline`() async throws {
        let thread = WatchedThread(name: "qc-test", subject: "the sound system", deadline: .milliseconds(200))
        let gate = Gate()
        let promise = Promise<Void>()
        try thread.run(job("blocking", promise) { gate.pass() })
        await thread.end()
        #expect(await outcome(promise).code == .timeout)
        gate.open()
    }

    @Test func `its last owner may be the job that it runs`() async throws {
        let gate = Gate()
        let promise = Promise<Void>()
        var thread: WatchedThread? = WatchedThread(name: "qc-last", subject: "the sound system", deadline: .seconds(10))
        try thread?.run(
            job("owning", promise) { [thread] in
                gate.pass(); _ = thread
            }
        )
        thread = nil
        gate.open()
        try await promise.value()
        try await eventually("both threads end") {
            ThreadList(named: "qc-last").count + ThreadList(named: "qc-last-watch").count == 0
        }
    }
}
