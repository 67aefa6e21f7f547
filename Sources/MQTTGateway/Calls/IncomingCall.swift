internal import Fleet
internal import MQTT
public import QuickConnectClient

/// A call that came over the broker, and may go to the daemon.
public struct IncomingCall: Sendable {
    public var message: CallMessage
    public var answer: AnswerAddress
    /// When it is too late to begin with it; nil: its caller does not say.
    public var expiresAt: ContinuousClock.Instant?

    public var caller: String { answer.caller }
    public var command: String { answer.command }

    /// What it takes while it waits.
    var byteCount: Int {
        guard case .text(let text) = message else { return answer.byteCount }
        return text.utf8.count + answer.byteCount
    }
}

/// Where, and how, a call is answered.
public struct AnswerAddress: Sendable, Hashable {
    public var caller: String
    /// What was called.
    public var command: String
    public var topic: String
    public var correlationData: [UInt8]?
    public var qos: Int32
    /// Whether the caller waits for an answer: then also success is told.
    public var isAwaited: Bool
    /// Within how long the answer goes out: the members of a group do not answer all at once.
    public var spread: Duration?

    /// What it takes while its call is under way; a caller may make it long.
    var byteCount: Int { command.utf8.count + topic.utf8.count + (correlationData?.count ?? 0) }

    /// The message of a reply.
    func message(_ reply: FleetReply) -> MQTTMessage {
        MQTTMessage(topic, reply.payload, qos: qos, correlationData: correlationData)
    }
}
