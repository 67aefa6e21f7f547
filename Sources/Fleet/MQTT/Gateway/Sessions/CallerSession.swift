import DequeModule
import Glibc
import JSON
import QuickConnect
import QuickConnectClient

/// One caller's connection to the daemon, on the gateway's socket. It is made for a call, acts for that caller, and
/// makes the caller's calls in the order in which they came.
final class CallerSession {
    typealias Instant = ContinuousClock.Instant
    typealias Outcome = Swift.Result<(command: String, value: JSONValue), CallFailure>

    /// What became of a call.
    struct Result {
        let answer: AnswerAddress
        let outcome: Outcome
        /// Whether it came on a long line.
        let isLong: Bool
    }

    /// Its number among all sessions of the process.
    let number: Int
    private let link: DaemonLink
    /// Calls that wait for a connection.
    private var waiting: Deque<(call: IncomingCall, until: Instant, late: CommandError.Code)> = []
    private var underWay: [CallID: AnswerAddress] = [:]
    private var done: [Result] = []
    /// Why the daemon refuses this gateway's calls, if it does.
    private var refusal: ErrorReply?
    private(set) var lastUse = Instant.now

    /// How long a call without an expiry waits for an absent daemon: as long as a restart takes.
    private static let patience = Duration.seconds(10)

    /// How many of one caller's calls may wait for an absent daemon: as many as it runs at once.
    private let maxWaiting: Int

    init(_ caller: String, path: String, number: Int, _ limits: Limits) {
        self.number = number
        maxWaiting = limits.callsPerConnection
        var bounds = ClientConversation.Bounds()
        bounds.waitingBytes = max(16 << 20, 2 * limits.lineBytes)
        bounds.putAsideBytes = 65_536
        (bounds.lineBytes, bounds.callsUnderWay) = (limits.lineBytes, limits.callsPerConnection)
        let opening = (command: SocketRule.actFor, message: CallMessage.value([.string(caller)]))
        // A daemon that does not accept at once is tried again.
        link = DaemonLink(
            ClientConversation(bounds: bounds, opening: [opening]),
            paths: [path],
            patience: .milliseconds(10)
        )
    }

    /// Whether nothing is waiting or running.
    var isIdle: Bool { waiting.isEmpty && underWay.isEmpty && done.isEmpty }

    /// Takes a call; false if too many calls of this caller already wait.
    func submit(_ call: IncomingCall) -> Bool {
        guard waiting.count < maxWaiting else { return false }
        lastUse = .now
        let end = Instant.now + Self.patience
        // Who gives less time than a restart takes has chosen that.
        let isShort = call.expiresAt.map { $0 < end - .seconds(2) } ?? false
        waiting.append((call, min(call.expiresAt ?? end, end), isShort ? .timeout : .unavailable))
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
    func advance() -> [Result] {
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
        while let (call, _, _) = waiting.popFirst() {
            if let end = call.expiresAt, end <= .now {
                done.append(Result(answer: call.answer, outcome: .failure(.refused(Self.lateness)), isLong: false))
            } else {
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
        for (call, _, code) in late {
            let away = ErrorReply([
                "code": .string(code.rawValue),
                "message": .string(
                    "the daemon does not answer: \(link.problem ?? "no connection"); the call was not done. On the "
                        + "device: «systemctl status quickconnectd»"
                ),
            ])
            let outcome = Outcome.failure(.refused(away))
            done.append(Result(answer: call.answer, outcome: outcome, isLong: false))
        }
        link.isWanted = !waiting.isEmpty
    }

    /// Lines that another thread should parse.
    func takeLongLines() -> [LongLine] { link.conversation.takeLongLines() }

    /// Takes such a line again. ``advance()`` has the results.
    func take(_ line: ParsedLine) {
        link.conversation.take(line)
        takeEvents(areLong: true)
    }

    private func takeEvents(areLong: Bool = false) {
        for event in link.conversation.takeEvents() {
            switch event {
            case .replied(let id, let command, let value): finish(id, .success((command, value)), areLong)
            case .failed(let id, .connectionLost(let reason)):
                finish(id, .failure(refused ?? .connectionLost(reason)), false)
            case .failed(let id, let failure): finish(id, .failure(refused ?? failure), areLong)
            case .refused(_, .refused(let error)), .fault(.told(let error)): refusal = error
            case .stands: refusal = nil
            case .happened, .called, .cancelled, .refused, .fault: break
            }
        }
    }

    private var refused: CallFailure? { refusal.map { .refused($0) } }

    private func finish(_ id: CallID, _ outcome: Outcome, _ isLong: Bool) {
        guard let answer = underWay.removeValue(forKey: id) else { return }
        done.append(Result(answer: answer, outcome: outcome, isLong: isLong))
    }

    func close() { link.close() }
}
