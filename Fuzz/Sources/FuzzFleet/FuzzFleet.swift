import Fleet
import Fuzzer
import JSON
import MQTT
import QuickConnectClient

@main enum FuzzFleet {
    static func main() { fuzz(read) }
}

private let topics = FleetTopics(prefix: "s/qc")
private let reader = CallReader(
    topics: topics,
    device: "d",
    groups: ["g"],
    commands: ["ping", "rec"],
    spread: .seconds(1),
    payloadBytes: 200
)

/// What libFuzzer calls with each input: a message of a broker, read as the gateway reads it, and as a caller elsewhere does. The first
/// byte has its flags; bytes 0xFF, which no UTF-8 has, stand between topic, response topic, user property and payload.
private func read(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    guard let bytes, count > 1 else { return 0 }
    let rest = UnsafeBufferPointer(start: bytes + 1, count: count - 1)
    let parts = rest.split(separator: 0xFF, maxSplits: 5, omittingEmptySubsequences: false).map(Array.init)
    func text(_ index: Int) -> String? {
        parts.count > index ? String(validating: parts[index], as: UTF8.self) : nil
    }
    guard let topic = text(0) else { return 0 }
    let flags = bytes[0]
    let message = MQTTMessage(
        topic,
        parts.count > 5 ? parts[5] : [],
        qos: Int32(flags & 3),
        isRetained: flags & 4 != 0,
        responseTopic: flags & 8 != 0 ? text(1) : nil,
        correlationData: flags & 16 != 0 && parts.count > 2 ? parts[2] : nil,
        expirySeconds: flags & 32 != 0 ? UInt32(flags >> 6) : nil,
        userProperties: [.init(text(3) ?? FleetProperty.spread, text(4) ?? "")]
    )
    look(at: message)
    lookAtTopics(topic, message.responseTopic ?? "")
    lookAtAnswers(message)
    return 0
}

/// A call is done and answered in its caller's name only, and nothing is answered elsewhere.
private func look(at message: MQTTMessage) {
    let now = ContinuousClock.now
    switch reader.read(message, at: now) {
    case .ignored: break
    case .refused(let address, _, let key): check(address, key, of: message)
    case .call(let call, let key):
        check(call.answer, key, of: message)
        check(!message.isRetained && message.expirySeconds != 0, "a kept call, or one that comes too late, is none")
        check(["ping", "rec"].contains(call.command), "only what is listed is called")
        check(message.payload.count <= 200, "a payload has a bound")
        check(message.payload.isEmpty == (call.message == .none), "what was said is what is asked for")
        check(message.responseTopic == nil || call.answer.isAwaited, "whoever names a topic is answered there")
        check(call.expiresAt.map { $0 > now } ?? true, "there is time left")
    }
}

private func check(_ address: AnswerAddress, _ key: CallKey?, of message: MQTTMessage) {
    guard let call = topics.readCall(message.topic) else { return check(false, "only a call is answered") }
    check(call.caller == address.caller && call.command == address.command, "the topic says who calls, and what")
    let place = "s/qc/d/reply/\(call.caller)"
    check(
        address.topic == place || address.topic.utf8.starts(with: "\(place)/".utf8),
        "an answer goes below the caller's own topic"
    )
    check(!address.topic.utf8.contains { "+#\0".utf8.contains($0) }, "an answer's topic has no wildcard")
    check(!address.isAwaited || message.responseTopic != nil, "who awaits an answer has said where")
    check(address.correlationData == message.correlationData, "correlation data comes back as it was")
    check((0...1).contains(address.qos), "an answer's QoS is 0 or 1")
    check(address.spread.map { .zero <= $0 && $0 <= .seconds(600) } ?? true, "a spread has a bound")
    check((key == nil) == (message.correlationData == nil), "what has correlation data is known again")
    if let key { check(CallKey(key.text) == key, "a key is written as it is read") }
    if case .group(let name) = call.target { check(name == "g", "only its own groups' calls are a device's") }
    if case .device(let name) = call.target { check(name == "d", "only its own calls are a device's") }
}

private func lookAtTopics(_ topic: String, _ response: String) {
    if let target = FleetTopics.Target(topic) {
        check(
            topics.call("ping", to: target, from: "ann").flatMap(topics.readCall)?.target == target,
            "a target is read as it is written"
        )
    }
    if let (device, subject) = topics.readSubject(topic) {
        check(topics.topic(subject, of: device) == topic, "what a device tells is read as it is written")
    }
    for caller in ["ann", "bob"] {
        guard let (device, rest) = topics.readReply(response, to: caller) else { continue }
        check(
            response.utf8.elementsEqual("s/qc/\(device)/reply/\(caller)/\(rest)".utf8)
                || rest.isEmpty && response.utf8.elementsEqual("s/qc/\(device)/reply/\(caller)".utf8),
            "a reply is its caller's"
        )
    }
}

private func lookAtAnswers(_ message: MQTTMessage) {
    var members = FleetMembers(topics)
    if members.take(message) {
        for member in members.all {
            _ = (member.json.text, member.doctor, members.present(in: "g"))
        }
    }
    guard let json = try? JSONParser.parse(message.payload.span) else { return }
    if let reply = FleetReply(json) {
        check(FleetReply(reply.json) == reply, "a reply is written as it is read")
    }
    if let info = DeviceInfo(json) { check(DeviceInfo(info.json) == info, "what a device is is written as it is read") }
}
