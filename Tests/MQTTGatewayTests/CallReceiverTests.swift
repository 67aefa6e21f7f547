import Concurrency
import Configuration
import Fleet
import Foundation
import JSON
import QuickConnectClient
import TestRig
import Testing

@testable import MQTT

@Suite("Calls of many callers")
struct CallReceiverTests {
    private func item(_ number: Int, payload: Int = 2, of caller: String = "ann") -> CallQueue.Item {
        let address = AnswerAddress(
            caller: caller,
            command: "\(number)",
            topic: "t",
            correlationData: nil,
            qos: 1,
            isAwaited: true,
            spread: nil
        )
        return CallQueue.Item(
            call: IncomingCall(message: .none, answer: address),
            payload: Array(repeating: UInt8(ascii: "1"), count: payload)
        )
    }

    private func numbers(_ batch: CallQueue.Batch?) -> [String] { batch?.items.map(\.call.command) ?? [] }

    @Test func `callers take turns by batches, and a caller's next batch waits for the one before`() {
        var queue = CallQueue()
        for number in 1...40 { queue.append(item(number), of: "bob") }
        queue.append(item(1), of: "ann")
        #expect(numbers(queue.next()) == (1...16).map(String.init))
        #expect(queue.next()?.caller == "ann" && queue.next() == nil && !queue.isReady)
        queue.append(item(2), of: "ann")
        #expect(!queue.isReady, "hers wait for the one before")
        queue.isOver("bob")
        queue.isOver("ann")
        #expect(numbers(queue.next()) == (17...32).map(String.init) && numbers(queue.next()) == ["2"])
        for caller in ["bob", "ann"] { queue.isOver(caller) }
        #expect(numbers(queue.next()) == (33...40).map(String.init))
        queue.isOver("bob")
        #expect(queue.isEmpty)
    }

    @Test func `a batch ends with a long payload`() {
        var queue = CallQueue()
        for (number, payload) in [2, 100_000, 2].enumerated() {
            queue.append(item(number, payload: payload), of: "ann")
        }
        #expect(numbers(queue.next()) == ["0", "1"])
        queue.isOver("ann")
        #expect(numbers(queue.next()) == ["2"])
    }

    /// A desk with a disk that the test stops.
    private final class Rig {
        let folder: TestFolder
        let waker: Waker
        let files: SideThread<GatewayWork>
        let texts: SideThread<GatewayWork>
        let desk: CallReceiver
        var answers: [CallReceiver.Answer] = []
        private(set) var textsRead = 0
        private let gate = DispatchSemaphore(value: 0)

        init() throws {
            folder = try TestFolder()
            let waker = try Waker()
            self.waker = waker
            files = SideThread("files") { waker.wake() }
            texts = SideThread("texts") { waker.wake() }
            var options = MQTTOptions(
                settings: MQTTSettings(),
                broker: MQTTBroker(host: "127.0.0.1", port: 1),
                device: "d",
                daemonPaths: [],
                bridgePath: folder("nowhere"),
                version: ""
            )
            options.state = folder.path
            desk = CallReceiver(options, FleetTopics(), files: files, texts: texts) { _ in }
        }

        func stopDisk() {
            let gate = gate
            files.run(for: "") {
                gate.wait()
                return .written(batch: -1, nil)
            }
        }

        func startDisk() { gate.signal() }

        func call(_ caller: String, _ payload: String = "", key: UInt8? = nil) {
            desk.take(
                MQTTMessage(
                    "qc/d/call/\(caller)/ping",
                    Array(payload.utf8),
                    responseTopic: "qc/d/reply/\(caller)/1",
                    correlationData: key.map { [$0] }
                )
            )
        }

        func turn() {
            let read = texts.takeValues()
            textsRead += read.count
            for work in files.takeValues() + read { desk.take(work) { _ in false } }
            answers += desk.advance([], until: .now + .milliseconds(1)) { _ in false }
        }

        var codes: [String] {
            answers.map {
                guard case .reply(let address, .error(let error)) = $0 else { return "?" }
                return "\(address.caller) \(error["code"]?.stringValue ?? "")"
            }
        }
    }

    @Test func `while the disk stalls only those wait whose calls must be on it, and they are told in the end`()
        async throws
    {
        let rig = try Rig()
        rig.desk.diskTimeout = .seconds(1)
        rig.stopDisk()
        rig.call("ann", key: 1)
        rig.call("bob")
        try await eventually("bob's call is under way") {
            rig.turn()
            return rig.desk.callerCount == 1
        }
        try await eventually("ann is told") {
            rig.turn()
            return rig.codes.contains("ann unavailable")
        }
        rig.startDisk()
        // The same one: she was told that it was not done.
        rig.call("ann", key: 1)
        try await eventually("her next call is under way") {
            rig.turn()
            return rig.desk.callerCount == 2
        }
        #expect(rig.codes == ["ann unavailable"])
    }

    @Test func `a call whose line another batch is writing waits for that`() async throws {
        let rig = try Rig()
        rig.stopDisk()
        rig.call("ann", "\"\(String(repeating: "x", count: 100_000))\"", key: 1)
        rig.turn()
        rig.call("bob", key: 2)
        rig.turn()
        try await eventually("her payload is read") {
            rig.turn()
            return rig.textsRead > 0
        }
        rig.turn()
        #expect(rig.desk.callerCount == 0, "nobody's call is under way")
        rig.startDisk()
        try await eventually("both calls are under way") {
            rig.turn()
            return rig.desk.callerCount == 2
        }
    }

    @Test func `each caller has a share of what waits, and one call is always possible`() throws {
        let rig = try Rig()
        let payload = "\"\(String(repeating: "x", count: 1 << 20))\""
        for _ in 0..<20 { rig.call("bob", payload) }
        rig.turn()
        let refused = rig.codes.count { $0 == "bob overloaded" }
        #expect((12...16).contains(refused), "\(refused)")
        for number in 0..<50 { rig.call("crowd\(number)", payload) }
        rig.call("ann")
        rig.turn()
        #expect(!rig.codes.contains("ann overloaded"))
        #expect(rig.desk.largest.reduce(0) { $0 + $1.used } <= CallReceiver.maxBytes)
    }
}
