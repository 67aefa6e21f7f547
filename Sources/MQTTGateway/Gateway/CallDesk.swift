import Configuration
import Fleet
import Glibc
import JSON
import MQTT
import QuickConnect
import QuickConnectClient

/// The calls from the broker: parses them, recognizes repeated ones, makes them on behalf of their callers, and answers
/// them.
final class CallDesk {
    typealias Answer = (address: AnswerAddress, reply: FleetReply)

    private let reader: CallReader
    private let seen: SeenFile
    private let sessions: CallerSessions
    private var complaints: Complaints
    /// Whether no new calls are started.
    var isStopping = false

    init(_ options: MQTTOptions, _ topics: FleetTopics, complain: @escaping (String) -> Void) {
        let settings = options.settings
        reader = CallReader(
            topics: topics,
            device: options.device,
            groups: Set(settings.groups),
            commands: settings.commands.map { Set($0.map { ByteName($0) }) },
            spread: .seconds(settings.spreadSeconds)
        )
        let file = options.state.map { "\($0)/calls" }
        seen = SeenFile(file, lifetime: Int64(settings.sessionSeconds), complain: complain)
        sessions = CallerSessions(path: options.bridgePath)
        complaints = Complaints(complain)
    }

    var callerCount: Int { sessions.count }

    /// Whether no call waits for an answer.
    var isIdle: Bool { sessions.isIdle }

    // MARK: Calls

    /// Takes a message from the broker.
    /// - Parameter isFull: whether so much waits for the broker that no call of a caller may start.
    /// - Returns: answers to send at once.
    func take(_ message: MQTTMessage, isFull: (_ caller: String) -> Bool) -> [Answer] {
        switch reader.read(message, at: .now) {
        case .ignored(let reason):
            complaints.tell(reason)
            return []
        case .refused(let address, let error, let key):
            if let key, !seen.take(key, of: address.caller) { return [] }
            complaints.tell(
                "\(address.command.prefix(100)) of \(address.caller): \(error.code.rawValue): \(error.message)"
            )
            return [refusal(address, error)]
        case .call(let call, let key):
            // A call that is delivered again was answered, or will be.
            if let key, !seen.take(key, of: call.caller) { return [] }
            return begin(call, isFull(call.caller)).map { [refusal(call.answer, $0)] } ?? []
        }
    }

    /// Starts a call, or returns why not.
    private func begin(_ call: IncomingCall, _ isFull: Bool) -> CommandError? {
        if isStopping { return CommandError(.cancelled, "the gateway is stopping; the call was not done") }
        if isFull {
            return CommandError(.overloaded, "too many answers wait for the broker; the call was not done")
        }
        do throws(CallerSessions.Refusal) {
            try sessions.submit(call)
            return nil
        } catch {
            return switch error {
            case .tooManyCallers:
                CommandError(
                    .overloaded,
                    "\(CallerSessions.most) other callers wait for answers; the call was not done"
                )
            case .tooManyCalls:
                CommandError(.overloaded, "too many calls of '\(call.caller)' wait; the call was not done")
            }
        }
    }

    private func refusal(_ address: AnswerAddress, _ error: CommandError) -> Answer {
        (address, .error(error.payload(command: address.command).objectValue ?? [:]))
    }

    // MARK: In the loop

    var events: [pollfd] { sessions.events }
    var nextMoment: ContinuousClock.Instant? { sessions.nextMoment }

    /// The results of calls.
    func advance() -> [Answer] { sessions.advance().compactMap { answer($0.answer, $0.outcome) } }

    private func answer(_ address: AnswerAddress, _ outcome: CallerSession.Outcome) -> Answer? {
        switch outcome {
        case .failure(let failure): return (address, .error(failure.payload(command: address.command)))
        case .success(let reply):
            // Without a response topic, success is not reported.
            guard address.isAwaited else { return nil }
            let command = reply.command == address.command ? nil : reply.command
            return (address, .result(reply.value, command: command))
        }
    }

    func close() { sessions.closeAll() }
}
