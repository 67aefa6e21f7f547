import DequeModule
import Glibc
import JSON
import Linux
import QuickConnect
import QuickConnectClient

/// One caller's connection to the daemon, on the gateway's socket. It is made for a call, acts for that caller, and
/// makes the caller's calls in the order in which they came.
final class CallerSession {
    typealias Instant = ContinuousClock.Instant
    typealias Outcome = Result<(command: String, value: JSONValue), CallFailure>

    private let link: DaemonLink
    /// Calls that wait for a connection.
    private var waiting: Deque<(call: IncomingCall, until: Instant)> = []
    private var underWay: [CallID: AnswerAddress] = [:]
    private var done: [(answer: AnswerAddress, outcome: Outcome)] = []
    /// The memory of waiting calls and awaited answers, apart from what the link counts.
    private var bytes = 0
    /// Why the daemon refuses this gateway's calls, if it does.
    private var refusal: ErrorReply?
    private(set) var lastUse = Instant.now

    /// How long a call without an expiry waits for an absent daemon: as long as a restart takes.
    private static let patience = Duration.seconds(10)

    /// The most memory for one caller's calls, here and again in the link. In total this may be used once per session.
    private static let mostBytes = 8 << 20
    /// How many of one caller's calls may wait for an absent daemon: as many as it runs at once.
    private static let mostWaiting = Limits().callsPerConnection
    private static let bounds: ClientConversation.Bounds = {
        var bounds = ClientConversation.Bounds()
        bounds.waitingBytes = mostBytes
        return bounds
    }()

    init(_ caller: String, path: String) {
        let opening = (command: SocketRule.actFor, message: CallMessage.value([.string(caller)]))
        link = DaemonLink(ClientConversation(bounds: Self.bounds, opening: [opening]), paths: [path])
    }

    /// Whether nothing is waiting or running.
    var isIdle: Bool { waiting.isEmpty && underWay.isEmpty && done.isEmpty }

    /// Takes a call; false if too many calls of this caller already wait.
    func submit(_ call: IncomingCall) -> Bool {
        guard waiting.count < Self.mostWaiting, bytes + call.byteCount <= Self.mostBytes else { return false }
        lastUse = .now
        bytes += call.byteCount
        waiting.append((call, min(call.expiresAt ?? .now + Self.patience, .now + Self.patience)))
        link.isWanted = true
        return true
    }

    // MARK: In the loop

    var events: pollfd { link.events }

    var nextMoment: Instant? {
        [link.nextMoment, waiting.map(\.until).min()].compactMap { $0 }.min()
    }

    /// Receives, sends and connects as much as is possible now.
    /// - Returns: the results of calls.
    func advance() -> [(answer: AnswerAddress, outcome: Outcome)] {
        link.receive()
        takeEvents()
        // Without a daemon, the link tries again by itself.
        try? link.advance()
        if link.connection != nil {
            send()
            try? link.advance()
        }
        takeEvents()
        giveUpLate()
        if !done.isEmpty { lastUse = .now }
        defer { done = [] }
        return done
    }

    private func send() {
        while let (call, _) = waiting.popFirst() {
            bytes -= call.byteCount
            if let end = call.expiresAt, end <= .now {
                done.append((call.answer, .failure(.refused(Self.lateness))))
            } else {
                bytes += call.answer.byteCount
                underWay[link.conversation.call(call.command, call.message)] = call.answer
            }
        }
        // Only calls open a connection, so a lost idle one stays closed.
        link.isWanted = false
    }

    private static let lateness = ErrorReply([
        "code": .string(CommandError.Code.timeout.rawValue), "message": "the call came too late, and was not done",
    ])

    private func giveUpLate() {
        let now = Instant.now
        guard waiting.contains(where: { $0.until <= now }) else { return }
        let late = waiting.filter { $0.until <= now }
        waiting.removeAll { $0.until <= now }
        for (call, _) in late {
            bytes -= call.byteCount
            let isExpired = call.expiresAt.map { $0 <= now } ?? false
            let away = ErrorReply([
                "code": .string(CommandError.Code.unavailable.rawValue),
                "message": .string(
                    "the daemon does not answer: \(link.problem ?? "no connection"); the call was not done"
                ),
            ])
            done.append((call.answer, .failure(.refused(isExpired ? Self.lateness : away))))
        }
        link.isWanted = !waiting.isEmpty
    }

    private func takeEvents() {
        for event in link.conversation.takeEvents() {
            switch event {
            case .replied(let id, let command, let value): finish(id, .success((command, value)))
            case .failed(let id, .connectionLost(let reason)): finish(id, .failure(refused ?? .connectionLost(reason)))
            case .failed(let id, let failure): finish(id, .failure(refused ?? failure))
            case .refused(_, .refused(let error)), .fault(.told(let error)): refusal = error
            case .stands: refusal = nil
            case .happened, .called, .cancelled, .refused, .fault: break
            }
        }
    }

    private var refused: CallFailure? { refusal.map { .refused($0) } }

    private func finish(_ id: CallID, _ outcome: Outcome) {
        guard let answer = underWay.removeValue(forKey: id) else { return }
        bytes -= answer.byteCount
        done.append((answer, outcome))
    }

    func close() { link.close() }
}
