import Concurrency
import Configuration
import DequeModule
import Fleet
import Glibc
import JSON
import QuickConnect
import QuickConnectClient

/// The calls from the broker: parses them, recognizes repeated ones, makes them on behalf of their callers, and answers
/// them. The callers take turns, and each has its share.
final class CallReceiver {
    typealias Instant = ContinuousClock.Instant

    /// An answer to send.
    enum Answer {
        case reply(AnswerAddress, FleetReply)
        /// One that another thread has written.
        case message(AnswerAddress, MQTTMessage, isRefusal: Bool)
    }

    private let reader: CallReader
    private let seen: SeenFile
    private let sessions: CallerSessions
    private let files: SideThread<GatewayWork>
    private let texts: SideThread<GatewayWork>
    private var complaints: Complaints
    private var queue = CallQueue()
    /// What the calls use that have no answer yet.
    private var budget = Budget<String>(limit: CallReceiver.maxBytes, minimum: 64 << 10)
    private var batches: [Int: CallQueue.Batch] = [:]
    private var lastBatch = 0
    /// When the batches are given up that wait for the disk, in order.
    private var deadlines: Deque<(batch: Int, at: Instant)> = []
    /// Answers that other threads are writing.
    private var answersAway = 0
    private var answers: [Answer] = []
    /// Whether no new calls are started.
    var isStopping = false

    /// What the calls of all callers may use.
    static let maxBytes = 48 << 20
    /// What each call uses besides its contents, which are there twice for some time.
    private static let overhead = 1024
    /// How long calls wait for the disk.
    var diskTimeout = Duration.seconds(10)

    init(
        _ options: MQTTOptions,
        _ topics: FleetTopics,
        files: SideThread<GatewayWork>,
        texts: SideThread<GatewayWork>,
        complain: @escaping (String) -> Void
    ) {
        let settings = options.settings
        reader = CallReader(
            topics: topics,
            device: options.device,
            groups: Set(settings.groups),
            commands: settings.commands.map { Set($0.map { ByteName($0) }) },
            spread: .seconds(settings.spreadSeconds),
            payloadBytes: options.limits.lineBytes
        )
        let file = options.state.map { "\($0)/calls" }
        complaints = Complaints(complain)
        seen = SeenFile(file, lifetime: Int64(settings.sessionSeconds), complain: complain)
        sessions = CallerSessions(path: options.bridgePath, options.limits)
        (self.files, self.texts) = (files, texts)
    }

    var callerCount: Int { sessions.count }

    /// The callers whose calls use the most, in bytes.
    var largest: [(peer: String, used: Int)] { budget.largest(5) }

    /// Whether no call waits for an answer.
    var isIdle: Bool { queue.isEmpty && batches.isEmpty && answersAway == 0 && sessions.isIdle }

    // MARK: Calls that come

    /// Takes a message from the broker, which is looked at when it is its caller's turn.
    func take(_ message: MQTTMessage) {
        var item: CallQueue.Item
        switch reader.readHead(message, at: .now) {
        case .ignored(let reason): return complaints.log(reason)
        case .refused(let address, let error, let key):
            item = CallQueue.Item(call: IncomingCall(message: .none, answer: address), key: key, error: error)
        case .call(let call, let key): item = CallQueue.Item(call: call, key: key, payload: message.payload)
        }
        item.call.answer.share = 2 * (message.byteCount - message.payload.count + item.payload.count) + Self.overhead
        let caller = item.call.caller
        guard budget.take(item.call.answer.share, for: caller) else {
            item.call.answer.share = 0
            if let key = item.key, !seen.take(key, of: caller) { return }
            return refuse(item.call.answer, Self.overload(caller))
        }
        queue.append(item, of: caller)
    }

    private static func overload(_ caller: String) -> CommandError {
        CommandError(.overloaded, "too many calls of '\(caller)' wait; the call was not done")
    }

    /// Goes on with the batch whose turn it is.
    private func goOn(_ isFull: (String) -> Bool) {
        guard var batch = queue.next() else { return }
        batch.items.removeAll { item in
            // A call that is delivered again was answered, or will be.
            guard let key = item.key, !seen.take(key, of: batch.caller) else { return false }
            giveBack(item.call.answer)
            return true
        }
        lastBatch += 1
        batches[lastBatch] = batch
        guard batch.items.contains(where: { $0.payload.count > CallQueue.longPayload }) else {
            for index in batch.items.indices { batch.items[index].read() }
            batches[lastBatch] = batch
            return keep(lastBatch, isFull)
        }
        let (number, items) = (lastBatch, batch.items)
        texts.run(for: batch.caller) {
            var items = items
            for index in items.indices { items[index].read() }
            return .read(batch: number, items)
        }
    }

    /// Has what must be written of a batch written before it begins.
    private func keep(_ number: Int, _ isFull: (String) -> Bool) {
        guard batches[number]?.items.contains(where: { $0.key != nil }) == true else { return begin(number, isFull) }
        let job = seen.takeJob(at: .now)
        // Its lines may be in another batch's job, which is under way.
        guard job != nil || !deadlines.isEmpty else { return begin(number, isFull) }
        deadlines.append((number, .now + diskTimeout))
        // In the order of the calls, whoever makes them.
        files.run(for: "") { job.map { .written(batch: number, $0()) } ?? .passed(batch: number) }
    }

    private func begin(_ number: Int, _ isFull: (String) -> Bool) {
        guard let batch = batches.removeValue(forKey: number) else { return }
        for item in batch.items { begin(item, isFull) }
        queue.isOver(batch.caller)
    }

    private func begin(_ item: CallQueue.Item, _ isFull: (String) -> Bool) {
        let address = item.call.answer
        guard let error = item.error ?? start(item.call, isFull(item.call.caller)) else { return }
        if item.error != nil {
            complaints.log(
                "\(address.command.prefix(100)) of \(address.caller): \(error.code.rawValue): \(error.message)"
            )
        }
        refuse(address, error)
    }

    /// Starts a call, or returns why not.
    private func start(_ call: IncomingCall, _ isFull: Bool) -> CommandError? {
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
            case .tooManyCalls: Self.overload(call.caller)
            }
        }
    }

    private func refuse(_ address: AnswerAddress, _ error: CommandError) {
        give(.reply(address, .error(error.payload(command: address.command).objectValue ?? [:])))
    }

    private func giveBack(_ address: AnswerAddress) { budget.add(-address.share, to: address.caller) }

    private func give(_ answer: Answer) {
        switch answer {
        case .reply(let address, _), .message(let address, _, _): giveBack(address)
        }
        answers.append(answer)
    }

    // MARK: In the loop

    var events: [pollfd] { sessions.events }

    var nextMoment: Instant? {
        if queue.isReady || sessions.isReady || !answers.isEmpty { return .now }
        return [sessions.nextMoment, deadlines.first?.at].compactMap { $0 }.min()
    }

    /// What another thread has done.
    /// - Parameter isFull: whether so much waits for the broker that no call of a caller may start.
    func take(_ work: GatewayWork, _ isFull: (_ caller: String) -> Bool) {
        switch work {
        case .read(let number, let items):
            batches[number]?.items = items
            keep(number, isFull)
        case .written(let number, let problem):
            deadlines.removeAll { $0.batch == number }
            let again = seen.didWrite(problem, at: .now)
            if again, batches[number] != nil { keep(number, isFull) } else { begin(number, isFull) }
        case .passed(let number):
            deadlines.removeAll { $0.batch == number }
            begin(number, isFull)
        case .line(let number?, let caller, let line): sessions.take(line, number, of: caller)
        case .line(nil, _, _): break
        case .answer(let address, let message, let isRefusal):
            answersAway -= 1
            give(.message(address, message, isRefusal: isRefusal))
        }
    }

    /// Works for a slice of time: the callers take turns.
    /// - Parameter ready: the results of poll(2) for ``events``.
    /// - Returns: answers to send.
    func advance(_ ready: ArraySlice<pollfd>, until end: Instant, isFull: (_ caller: String) -> Bool) -> [Answer] {
        giveUpWriting(at: .now)
        sessions.note(ready)
        repeat {
            goOn(isFull)
            for (caller, line) in sessions.advance(give: { answer($0.answer, $0.outcome, isLong: $0.isLong) }) {
                texts.run(for: caller) { .line(session: line.session, caller, line.line.parsed()) }
            }
        } while (queue.isReady || sessions.isReady) && .now < end
        defer { answers = [] }
        return answers
    }

    private func giveUpWriting(at now: Instant) {
        while let first = deadlines.first, first.at <= now {
            deadlines.removeFirst()
            guard let batch = batches.removeValue(forKey: first.batch) else { continue }
            let error = CommandError(
                .unavailable,
                "the device's disk does not answer, which must know of a call before it is done; the call was not done"
            )
            complaints.log("the disk of the state folder does not answer; calls of \(batch.caller) were not done")
            for item in batch.items {
                if let key = item.key { seen.forget(key, of: batch.caller) }
                refuse(item.call.answer, item.error ?? error)
            }
            queue.isOver(batch.caller)
        }
    }

    private func answer(_ address: AnswerAddress, _ outcome: CallerSession.Outcome, isLong: Bool) {
        let reply: FleetReply
        switch outcome {
        case .failure(let failure): reply = .error(failure.payload(command: address.command))
        case .success(let result):
            // Without a response topic, success is not reported.
            guard address.isAwaited else { return giveBack(address) }
            let command = result.command == address.command ? nil : result.command
            reply = .result(result.value, command: command)
        }
        guard isLong else { return give(.reply(address, reply)) }
        answersAway += 1
        texts.run(for: address.caller) { .answer(address, address.message(reply), isRefusal: reply.isRefusal) }
    }

    func close() { sessions.closeAll() }
}
