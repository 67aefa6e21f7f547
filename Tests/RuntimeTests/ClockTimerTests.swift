import Concurrency
import Glibc
import Synchronization
import TestRig
import Testing

@testable import Runtime

@Suite("A timer by the time of day")
struct ClockTimerTests {
    /// Seconds since 1970.
    private static func time() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }

    @Test func `comes when its time has come, not before, and once`() async throws {
        let loop = try Loop()
        var told: [(wasSet: Bool, at: Double)] = []
        let timer = try ClockTimer(on: loop) { told.append(($0, Self.time())) }
        defer { timer.close() }
        let planned = Int64(Self.time()) + 2
        timer.wait(until: planned)
        try await eventually("it comes") {
            _ = loop.runOnce(waits: false)
            return !told.isEmpty
        }
        #expect(told.first?.wasSet == false)
        #expect(try #require(told.first).at >= Double(planned))
        for _ in 0..<10 { _ = loop.runOnce(waits: false) }
        #expect(told.count == 1)
    }

    @Test func `comes at once for a time that has passed, also before 1970, and never for none`() throws {
        let loop = try Loop()
        var count = 0
        let timer = try ClockTimer(on: loop) { _ in count += 1 }
        for past in [Int64(Self.time()), 1, 0, -5, .min] {
            count = 0
            timer.wait(until: past)
            _ = loop.runOnce(waits: true)
            #expect(count == 1, "\(past)")
        }
        for never in [nil, .max] as [Int64?] {
            timer.wait(until: never)
            for _ in 0..<10 { _ = loop.runOnce(waits: false) }
            #expect(count == 1)
        }
        timer.wait(until: 1)
        timer.close()
        for _ in 0..<10 { _ = loop.runOnce(waits: false) }
        #expect(count == 1)
    }

    /// The kernel refuses here what it refuses once when somebody sets the clock.
    private func told(by call: RefusedCall) async throws -> [Bool]? {
        try await call.with(ECANCELED) {
            guard let loop = try? Loop() else { return [] }
            var told: [Bool] = []
            guard let timer = try? ClockTimer(on: loop, { told.append($0) }) else { return [] }
            timer.wait(until: 1)
            for _ in 0..<3 where told.isEmpty { _ = loop.runOnce(waits: false) }
            timer.close()
            return told
        }
    }

    @Test(arguments: [RefusedCall.counterReads, .timerSettings])
    func `tells that the clock has been set, while it waits or just before`(_ call: RefusedCall) async throws {
        guard let told = try await told(by: call) else { return try skipRest("this kernel filters no calls") }
        #expect(told == [true])
    }
}
