import Fleet
import JSON
import Linux
import QuickConnect

/// Hands messages to the broker as fast as it takes them, and queues the rest within limits.
final class Publisher {
    typealias Instant = ContinuousClock.Instant

    private var backlog: Backlog
    private var handedOver = HandedOver()
    private let log: ServiceLog
    private var complaints: Complaints
    private var droppedBefore = 0
    private var isDropping = false

    /// - Parameters:
    ///   - messages: how many messages may wait.
    ///   - bytes: how many bytes may wait.
    init(messages: Int, bytes: Int, log: ServiceLog) {
        backlog = Backlog(messages: messages, bytes: bytes)
        self.log = log
        complaints = Complaints { log.write($0, .warning) }
    }

    var waitingCount: Int { backlog.count }
    var droppedEvents: Int { backlog.droppedEvents }
    var droppedReplies: Int { backlog.droppedReplies }
    /// Whether no further call of this caller should start.
    func isFull(for caller: String) -> Bool { backlog.isFull(for: caller) }
    var isEmpty: Bool { backlog.isEmpty }
    /// Whether the broker has acknowledged everything it got.
    var isAcknowledged: Bool { handedOver.count == 0 }

    // MARK: In

    func add(_ message: MQTTMessage, _ kind: Backlog.Kind) { backlog.add(message, kind) }

    func add(_ messages: [MQTTMessage]) {
        for message in messages { backlog.add(message, message.isRetained ? .state : .event) }
    }

    /// The members of a group answer at random moments.
    func add(_ reply: FleetReply, to address: AnswerAddress) {
        add(address.message(reply), to: address, isRefusal: reply.isRefusal)
    }

    /// The same with an answer that is written already.
    func add(_ message: MQTTMessage, to address: AnswerAddress, isRefusal: Bool) {
        let moment = address.spread.map { Instant.now + $0 * Double.random(in: 0...1) }
        let kind = Backlog.Kind.reply(of: address.command, to: address.caller, isRefusal: isRefusal)
        backlog.add(message, kind, notBefore: moment)
    }

    // MARK: Out

    /// When there is something to send while the broker is connected. A message without room waits for the broker's
    /// next acknowledgement.
    var nextMoment: Instant? {
        guard handedOver.hasRoom else { return nil }
        return backlog.isReady(at: .now) ? .now : backlog.nextMoment
    }

    func handOver(to client: MQTTClient) {
        let now = Instant.now
        while handedOver.hasRoom, let (message, kind) = backlog.next(at: now) {
            do throws(MQTTError) {
                handedOver.add(try client.publish(message), message, kind)
            } catch {
                // The next poll reports the end of the connection; nothing was sent.
                guard !error.isOfConnection else { return backlog.putBack(message, kind) }
                complaints.log("nothing was published to \(message.topic): \(error.text)")
                if error.isTooLarge { logTooLarge(message, kind) }
            }
        }
    }

    /// Tells a caller that its answer is too large for the broker.
    private func logTooLarge(_ message: MQTTMessage, _ kind: Backlog.Kind) {
        guard case .reply(let command, _, _) = kind else { return }
        let bytes = message.payload.count
        let error = CommandError(
            .tooLarge,
            "the call was done; its answer of \(bytes) bytes is more than the broker takes"
        )
        var other = message
        other.payload = FleetReply.error(error.payload(command: command).objectValue ?? [:]).payload
        // A message that is not smaller would come back here endlessly.
        if other.payload.count < bytes { backlog.add(other, kind) }
    }

    /// The broker has acknowledged a message.
    /// - Returns: the message, if the broker has accepted it.
    func handle(_ number: Int32, _ reason: MQTTReason) -> MQTTMessage? {
        let message = handedOver.remove(number)
        guard reason.isRefusal else { return message }
        complaints.log("the broker refuses what is published to \(message?.topic ?? "it"): \(reason)")
        return nil
    }

    /// The connection is lost. States that were on their way are sent again anyway. An answer is not, because it may
    /// have arrived and must not arrive twice.
    func goOnWithoutConnection() {
        for (message, kind) in handedOver.takeAll().reversed() {
            switch kind {
            case .reply: complaints.log("an answer to \(message.topic) was on its way, and may not have come")
            case .state: backlog.add(message, .state, onlyIfNoneWaits: true)
            case .event, .newest: if message.qos > 0 { backlog.putBack(message, kind) }
            }
        }
    }

    /// Logs when messages begin to be dropped, and how many were dropped when that is over.
    func noteDropped() {
        let dropped = backlog.droppedEvents + backlog.droppedReplies
        if dropped > droppedBefore, !isDropping {
            isDropping = true
            log.write("the queue is full; the oldest events are left out", .warning)
        } else if isDropping, backlog.isEmpty {
            isDropping = false
            log.write("the queue is empty again; \(dropped) messages were left out since the start", .warning)
        }
        droppedBefore = dropped
    }
}
