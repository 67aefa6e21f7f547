import Fleet
import JSON
import QuickConnect
import QuickConnectClient
import Testing

@testable import MQTT

@Suite("Calls that come over a broker")
struct CallReaderTests {
    private var reader: CallReader {
        CallReader(
            topics: FleetTopics(),
            device: "d",
            groups: ["lobby"],
            commands: ["ping", "rec"],
            spread: .seconds(1),
            payloadBytes: 1000
        )
    }
    private let now = ContinuousClock.now

    private func read(
        _ topic: String = "qc/d/call/ann/ping",
        _ payload: String = "",
        _ change: (inout MQTTMessage) -> Void = { _ in }
    )
        -> CallReader.Reading
    {
        var message = MQTTMessage(topic, Array(payload.utf8))
        change(&message)
        return reader.read(message, at: now)
    }

    private func call(_ reading: CallReader.Reading) throws -> (call: IncomingCall, key: CallKey?) {
        guard case .call(let call, let key) = reading else { throw NotThat(reading) }
        return (call, key)
    }

    private func refusal(_ reading: CallReader.Reading) throws -> (address: AnswerAddress, code: CommandError.Code) {
        guard case .refused(let address, let error, _) = reading else { throw NotThat(reading) }
        return (address, error.code)
    }

    private struct NotThat: Error, CustomStringConvertible {
        let description: String
        init(_ reading: CallReader.Reading) { description = "\(reading)" }
    }

    @Test(arguments: [
        ("[1,\n2]\r\n", "[1, 2]  "), ("\"a\\nb\"", "\"a\\nb\""), ("hello", "\"hello\""), ("[", "\"[\""),
        ("1e999 apples", "\"1e999 apples\""), (" {\"a\":1} ", " {\"a\":1} "), ("a\nb", "\"a\\nb\""),
    ])
    func `a payload goes on as JSON without being parsed, and what is none as one string`(payload: String, json: String)
        throws
    {
        #expect(try call(read("qc/d/call/ann/ping", payload)).call.message == .json(json))
        #expect(try call(read("qc/d/call/ann/ping", "undefined")).call.message == .none)
    }

    @Test func `a call is read with its answer's address`() throws {
        let reading = read("qc/d/call/ann/rec", "[\"a.wav\"]") {
            $0.responseTopic = "qc/d/reply/ann/1"
            $0.correlationData = [1, 2]
            $0.expirySeconds = 7
        }
        let (call, key) = try call(reading)
        #expect(call.command == "rec" && call.message == .json("[\"a.wav\"]") && call.expiresAt == now + .seconds(7))
        #expect(
            call.answer.topic == "qc/d/reply/ann/1" && call.answer.correlationData == [1, 2] && call.answer.isAwaited
        )
        #expect(call.answer.spread == nil && call.answer.qos == 1 && key == CallKey(caller: "ann", data: [1, 2]))
    }

    @Test func `without a response topic only errors are told`() throws {
        let (call, key) = try call(read())
        #expect(!call.answer.isAwaited && call.answer.topic == "qc/d/reply/ann" && call.message == .none && key == nil)
        #expect(try self.call(read { $0.qos = 0 }).call.answer.qos == 0)
    }

    @Test func `a member of a group answers within the spread`() throws {
        #expect(try call(read("qc/group/lobby/call/ann/ping")).call.answer.spread == .seconds(1))
        for (text, spread) in [("0", 0.0), ("2.5", 2.5), ("-1", 1), ("x", 1), ("1e9", 600), ("nan", 1)] {
            let reading = read("qc/group/lobby/call/ann/ping") { $0.userProperties = [.init("spread", text)] }
            #expect(try call(reading).call.answer.spread == .seconds(spread), "\(text)")
        }
    }

    @Test(arguments: ["qc/e/call/ann/ping", "qc/group/other/call/ann/ping", "x", "qc/d/reply/ann"])
    func `what is for others is ignored`(topic: String) {
        guard case .ignored = read(topic) else {
            Issue.record("taken: \(topic)")
            return
        }
    }

    @Test func `a retained call is refused, and its removal ignored`() throws {
        #expect(try refusal(read("qc/d/call/ann/ping", "[]") { $0.isRetained = true }).code == .badRequest)
        guard case .ignored = read("qc/d/call/ann/ping", "", { $0.isRetained = true }) else {
            Issue.record("taken")
            return
        }
    }

    @Test func `what cannot be done is refused with its code`() throws {
        #expect(try refusal(read { $0.expirySeconds = 0 }).code == .timeout)
        #expect(try refusal(read("qc/d/call/ann/volume")).code == .denied)
        for command in FleetCommands.ofConnections {
            #expect(try refusal(read("qc/d/call/ann/\(command)")).code == .unsupported)
        }
        for payload in [
            [0xFF], Array("1e999".utf8), Array("[1e999]".utf8), Array(#""\ud800""#.utf8), Array("\u{FEFF}5".utf8),
        ] {
            #expect(try refusal(read { $0.payload = payload }).code == .badRequest, "\(payload)")
        }
        #expect(try refusal(read("qc/d/call/ann/ping", String(repeating: "x", count: 1001))).code == .tooLarge)
        let deep = String(repeating: "[", count: 500) + String(repeating: "]", count: 500)
        #expect(try call(read("qc/d/call/ann/ping", deep)).call.command == "ping")
        let wide = CallReader(
            topics: FleetTopics(),
            device: "d",
            groups: [],
            commands: nil,
            spread: .zero,
            payloadBytes: 5000
        )
        let deeper = Array((String(repeating: "[", count: 600) + String(repeating: "]", count: 600)).utf8)
        #expect(try refusal(wide.read(MQTTMessage("qc/d/call/ann/ping", deeper), at: now)).code == .tooLarge)
    }

    @Test func `a response topic that may not be used is told where errors go`() throws {
        let refusal = try refusal(
            read {
                $0.responseTopic = "qc/e/call/ann/ping"
                $0.correlationData = [9]
            }
        )
        #expect(refusal.code == .badRequest && refusal.address.topic == "qc/d/reply/ann")
        #expect(refusal.address.correlationData == [9])
    }

    @Test func `calls are the same where caller and correlation data are`() throws {
        let key = CallKey(caller: "ann", data: [1])
        #expect(key == CallKey(caller: "ann", data: [1]) && key != CallKey(caller: "ann", data: [2]))
        #expect(
            key != CallKey(caller: "bob", data: [1])
                && CallKey(caller: "ab", data: [1]) != CallKey(caller: "a", data: [98, 1])
        )
        #expect(CallKey(key.text) == key && CallKey("x") == nil && CallKey(String(repeating: "0", count: 32)) != nil)
    }
}
