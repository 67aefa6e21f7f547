import Concurrency
import Foundation
import JSON
import QuickConnect
import Synchronization
import TestRig
import Testing

@testable import EvdevHaptics

@Suite(.serialized) struct VibrationTests {
    private let motors = FakeMotors()
    private let haptics: EvdevHaptics

    init() { haptics = EvdevHaptics(motors, deadline: .milliseconds(400), logger: quiet) }

    private func vibrating() async throws {
        try await eventually("it vibrates") { motors.steps.contains { if case .vibrate = $0 { true } else { false } } }
    }

    @Test func `a pattern vibrates and pauses by turns, and is over in its time`() async throws {
        let time = try await seconds { try await haptics.vibrate(.init([60, 80, 40]), for: alice).value() }
        #expect(motors.steps == [.open, .vibrate(60), .rest, .vibrate(40), .rest, .gone])
        #expect(time >= 0.18)
        let steps = motors.state.withLock { $0.steps }
        #expect(steps[1].at.duration(to: steps[3].at) >= .milliseconds(140))
        #expect(haptics.state() == ["vibrating": []])
    }

    @Test func `a vibration of 0 ms is none, and its place in the pattern stays`() async throws {
        try await haptics.vibrate(.init([0, 30, 20]), for: alice).value()
        #expect(motors.steps == [.open, .vibrate(20), .rest, .gone])
    }

    @Test func `state tells what plays and for whom`() async throws {
        let promise = haptics.vibrate(.init([5000]), for: alice)
        #expect(haptics.state() == ["vibrating": [["pattern": [5000], "for": alice.json]]])
        haptics.end(promise)
        #expect(await outcome(promise).code == .cancelled)
        #expect(haptics.state() == ["vibrating": []])
    }

    @Test func `the newest takes the place of the one that plays, whoever started that`() async throws {
        let first = haptics.vibrate(.init([5000]), for: alice)
        try await vibrating()
        let second = haptics.vibrate(.init([20]), for: bob)
        let result = await outcome(first)
        #expect(result.code == .cancelled && result.message.contains("newer"))
        try await second.value()
        #expect(motors.steps == [.open, .vibrate(5000), .rest, .gone, .open, .vibrate(20), .rest, .gone])
    }

    @Test func `of fifty thousand at once the last one plays to its end`() async throws {
        let pattern = VibrationPattern([30])
        let promises = (0..<50_000).map { _ in haptics.vibrate(pattern, for: alice) }
        try await promises[49_999].value()
        let ended = promises.count { $0.isSettled }
        #expect(ended == promises.count)
        #expect(await outcome(promises[7]).code == .cancelled)
        #expect(motors.steps.suffix(4) == [.open, .vibrate(30), .rest, .gone])
    }

    @Test func `stop ends what the caller may end, and the motor rests`() async throws {
        let promise = haptics.vibrate(.init([5000]), for: alice)
        try await vibrating()
        haptics.stop { $0 == bob }
        #expect(!promise.isSettled)
        haptics.stop { $0 == alice }
        #expect(await outcome(promise).code == .cancelled)
        try await eventually("it rests") { motors.steps == [.open, .vibrate(5000), .rest, .gone] }
    }

    @Test func `an end of one that is over ends no other`() async throws {
        let first = haptics.vibrate(.init([1]), for: alice)
        _ = await outcome(first)
        let second = haptics.vibrate(.init([60]), for: alice)
        haptics.end(first)
        try await second.value()
    }

    @Test func `the daemon's end ends it`() async throws {
        let promise = haptics.vibrate(.init([5000]), for: alice)
        try await vibrating()
        await haptics.close()
        #expect(await outcome(promise).code == .cancelled)
        #expect(motors.steps == [.open, .vibrate(5000), .rest, .gone])
        #expect(await outcome(haptics.vibrate(.init([1]), for: alice)).code == .cancelled)
    }

    @Test func `a motor that is unplugged in the middle is unavailable`() async throws {
        let promise = haptics.vibrate(.init([5000]), for: alice)
        try await vibrating()
        motors.unplug()
        let result = await outcome(promise)
        #expect(result.code == .unavailable && result.message.contains("unplugged"))
        // The next one looks anew.
        try await haptics.vibrate(.init([5]), for: alice).value()
    }

    @Test func `what opening and playing fail with reaches the caller`() async throws {
        motors.state.withLock { $0.failure = CommandError(.denied, "no") }
        #expect(await outcome(haptics.vibrate(.init([5]), for: alice)).code == .denied)
        motors.state.withLock { $0.failure = nil }
        motors.state.withLock { $0.vibrationFailure = CommandError(.busy, "full") }
        let result = await outcome(haptics.vibrate(.init([5]), for: alice))
        #expect(result.code == .busy && result.message.contains("full"))
        #expect(motors.steps == [.open, .gone])
    }

    @Test func `a driver that hangs costs its caller the deadline, others nothing, and works again when it comes back`()
        async throws
    {
        let hang = Gate()
        motors.state.withLock { $0.hang = hang }
        #expect(await outcome(haptics.vibrate(.init([5]), for: alice)).code == .timeout)
        let refusal = await outcome(haptics.vibrate(.init([5]), for: alice))
        #expect(refusal.code == .unavailable && refusal.message.contains("has not come back"))
        motors.state.withLock { $0.hang = nil }
        hang.open()
        try await eventually("it works again") { await outcome(haptics.vibrate(.init([5]), for: alice)).code == nil }
        #expect(!motors.steps.contains(.vibrate(0)))
    }

    @Test(.measured) func `nothing runs while nothing vibrates`() async throws {
        try await haptics.vibrate(.init([5]), for: alice).value()
        try await eventually("it is closed") { motors.steps.last == .gone }
        // Sleeps until the watching thread has seen that there is nothing left to watch.
        try await Task.sleep(for: .milliseconds(800))
        let threads = [ThreadList(named: "qc-motor"), ThreadList(named: "qc-motor-watch")]
        let before = threads.map(\.switches)
        // Sleeps while they should.
        try await Task.sleep(for: .seconds(2))
        #expect(threads.map(\.count).allSatisfy { $0 > 0 } && threads.map(\.switches) == before)
    }
}

@Suite struct SimulatedMotorTests {
    @Test func `it writes down what it does`() async throws {
        let folder = try TestFolder()
        let haptics = EvdevHaptics(simulatedIn: folder("new/vibration.jsonl"), logger: quiet)
        try await haptics.vibrate(.init([30, 20, 10]), for: alice).value()
        let promise = haptics.vibrate(.init([9000]), for: alice)
        try await eventually("it vibrates") { folder.size("new/vibration.jsonl") > 200 }
        haptics.stop { _ in true }
        _ = await outcome(promise)
        await haptics.close()
        let lines = try String(decoding: folder.data("new/vibration.jsonl"), as: UTF8.self).split(separator: "\n")
        let steps = try lines.map { try #require(JSONParser.parse(String($0)).objectValue) }
        #expect(steps.map { $0["vibrates"] } == [true, false, true, false, true, false])
        #expect(steps.map { $0["milliseconds"] ?? .null } == [30, .null, 10, .null, 9000, .null])
        #expect(steps.allSatisfy { ($0["time"]?.numberValue ?? 0) > 1e9 })
    }

    @Test func `a folder that cannot be made is unavailable`() async throws {
        let haptics = EvdevHaptics(simulatedIn: "/proc/none/vibration.jsonl", logger: quiet)
        let result = await outcome(haptics.vibrate(.single, for: alice))
        #expect(result.code == .unavailable && result.message.contains("mkdir"))
        #expect(await haptics.examine().state == .ok)
    }
}
