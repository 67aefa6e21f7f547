internal import Fleet
internal import MQTT
public import QuickConnectClient

/// A call that came over the broker and is valid for the daemon.
public struct IncomingCall: Sendable {
    public var message: CallMessage
    public var answer: AnswerAddress
    /// When it is too late to start it; nil: no limit.
    public var expiresAt: ContinuousClock.Instant?

    public var caller: String { answer.caller }
    public var command: String { answer.command }
}

/// Where and how to answer a call.
public struct AnswerAddress: Sendable, Hashable {
    public var caller: String
    /// The command of the call.
    public var command: String
    public var topic: String
    public var correlationData: [UInt8]?
    public var qos: Int32
    /// Whether the caller waits for an answer; then success is reported, too.
    public var isAwaited: Bool
    /// The answer is sent at a random moment within this time, so that the members of a group do not answer all at
    /// once.
    public var spread: Duration?
    /// The bytes of the caller's share that its call takes until it is answered.
    var share = 0

    /// The message of a reply.
    func message(_ reply: FleetReply) -> MQTTMessage {
        MQTTMessage(topic, reply.payload, qos: qos, correlationData: correlationData)
    }
}
