internal import Fleet
package import QuickConnectClient

/// A call that came over the broker and is valid for the daemon.
package struct IncomingCall: Sendable {
    package var message: CallMessage
    package var answer: AnswerAddress
    /// When it is too late to start it; nil: no limit.
    package var expiresAt: ContinuousClock.Instant?

    package var caller: String { answer.caller }
    package var command: String { answer.command }
}

/// Where and how to answer a call.
package struct AnswerAddress: Sendable, Hashable {
    package var caller: String
    /// The command of the call.
    package var command: String
    package var topic: String
    package var correlationData: [UInt8]?
    package var qos: Int32
    /// Whether the caller waits for an answer; then success is reported, too.
    package var isAwaited: Bool
    /// The answer is sent at a random moment within this time, so that the members of a group do not answer all at
    /// once.
    package var spread: Duration?
    /// The bytes of the caller's share that its call takes until it is answered.
    var share = 0

    /// The message of a reply.
    func message(_ reply: FleetReply) -> MQTTMessage {
        MQTTMessage(topic, reply.payload, qos: qos, correlationData: correlationData)
    }
}
