internal import Concurrency
import JSON
import Synchronization

/// One connection's conversation with the daemon: lines in, lines out. It does no I/O, so tests can use it directly.
public final class Connection: CallConnection {
    private let peer: Caller
    private let peerOwner: Owner
    /// The user for whom it acts, if it is a gateway's connection.
    private let gatewayUser: GatewayUser?
    /// The rule of its socket; nil for the daemon's own socket.
    public let socketRule: SocketRule?
    /// The process that connected; nil if unknown.
    public let process: CallingProcess?
    /// Handles its calls.
    public let frontController: FrontController
    private let handlers: HandlerRegistry
    private let events: EventHub
    private let memory: PeerMemory
    private let output: any ConnectionOutput
    private let state = Mutex(State())

    private struct State {
        var waiting = WaitingList()
        /// What is counted for the waiting calls.
        var charge = Charge(step: 16 << 10)
        var pendingAnswers = PendingAnswers()
        var inputEnded = false
        /// Whether the client is gone, and what it sent before is still being processed.
        var isLeft = false
        var isClosed = false
        /// Whether it is to be told whether anything is leased to it.
        var hearsLeases = false
        var leaseCount = 0
        var closings: [@Sendable () -> Void] = []

        var answers: Bool { !isClosed && !inputEnded && !isLeft }
    }

    /// A connection of a caller; what it sends goes to `output`.
    public init(
        caller: Caller,
        _ router: Router,
        output: any ConnectionOutput,
        socketRule: SocketRule? = nil,
        process: CallingProcess? = nil
    ) {
        self.process = process
        peer = caller
        peerOwner = caller.owner
        gatewayUser = socketRule?.gateway.map { GatewayUser($0) }
        self.socketRule = socketRule
        frontController = router.frontController
        handlers = router.handlers
        events = router.events
        memory = router.memory
        self.output = output
    }

    // MARK: Who calls

    /// The process that connected, or the user that a gateway has named.
    public var caller: Caller { gatewayUser?.caller ?? peer }

    /// Who takes turns with others, and has a share.
    public var owner: Owner { gatewayUser?.owner ?? peerOwner }

    /// Acts for a gateway's user from now on. Throws `denied` the second time, and if the socket belongs to no gateway.
    public func act(for user: String, groups: Set<String>, hearsLeases: Bool) throws(CommandError) {
        guard let gatewayUser else {
            throw CommandError(
                .denied,
                "only gateways call actFor, on sockets of their own: see 'sockets' in the settings"
            )
        }
        try gatewayUser.name(user, groups: groups)
        state.withLock { $0.hearsLeases = hearsLeases }
    }

    /// Tells a gateway that asked for it when the first thing is leased to its user, and when nothing is any more.
    public func lease(begins: Bool) {
        let isNews = state.withLock { state in
            state.leaseCount += begins ? 1 : -1
            return state.hearsLeases && !state.isClosed && state.leaseCount == (begins ? 1 : 0)
        }
        if isNews { output.write { $0.append(SocketRule.leaseLine(begins) + "\n") } }
    }

    // MARK: Input, from the connection's thread, in order

    /// Handles one message.
    public func receive(
        _ message: borrowing IncomingMessage,
        _ table: inout FrontController.CurrentTable,
        form: WireForm
    ) {
        switch message {
        case .call(let request): frontController.handleRequest(request, from: self, &table)
        case .answer(let id, let outcome): receiveAnswer(id: id, outcome)
        case .unreadable(let message):
            output.write { $0.appendError(message.error, command: message.command, id: message.id, form: form) }
        }
    }

    /// Replies to a line that was longer than the limit and was skipped.
    public func receive(_ line: OverlongLine) {
        let limit = frontController.limits.lineBytes
        let error = CommandError(.tooLarge, "the line is longer than \(limit) bytes and was skipped")
        if let id = line.responseID {
            let failure = HandlerFailure(.tooLarge, "the handler's answer is longer than \(limit) bytes")
            return receiveAnswer(id: id, .failure(failure))
        }
        output.write { $0.appendError(error, command: nil, id: line.callID, form: line.form) }
    }

    /// What an end leaves to do. Small steps, because a thousand handlers and calls may have ended, each of which others
    /// are told of.
    public typealias Steps = [() -> Void]

    /// The client will send nothing more, but still reads. Its handlers can no longer answer.
    /// - Returns: what is left to do.
    public func endInputInSteps() -> Steps {
        let (isFinished, pending) = state.withLock {
            $0.inputEnded = true
            return ($0.waiting.isEmpty, $0.pendingAnswers.takeAll())
        }
        var steps = retireHandlers(pending)
        if isFinished { steps.append { self.output.finish() } }
        return steps
    }

    /// The client is gone, and what it sent before is still to be processed. Its handlers get no more calls.
    public func leave() { state.withLock { $0.isLeft = true } }

    /// The connection is gone: ends its waiting calls and removes its handlers and subscriptions.
    /// - Returns: what is left to do.
    public func closeInSteps() -> Steps {
        let (waiting, pending, closings) = state.withLock { state in
            state.isClosed = true
            defer { state.closings = [] }
            return (state.waiting.calls, state.pendingAnswers.takeAll(), state.closings)
        }
        var steps = retireHandlers(pending)
        steps.append { self.events.unsubscribeAll(self) }
        for call in waiting {
            steps.append { call.interrupt(CommandError(.cancelled, "the connection closed")) }
        }
        // Not as one array: a cast of arrays of functions fails at run time.
        for closed in closings { steps.append { closed() } }
        return steps
    }

    /// Ends the input at once, for a transport without turns.
    public func endInput() { for step in endInputInSteps() { step() } }

    /// Closes at once, for a transport without turns.
    public func close() { for step in closeInSteps() { step() } }

    /// Whether it has been closed.
    public var isClosed: Bool { state.withLock { $0.isClosed } }

    /// Calls a function when it closes, or at once if it already has.
    public func whenClosed(_ body: @escaping @Sendable () -> Void) {
        let isClosed = state.withLock { state in
            if !state.isClosed { state.closings.append(body) }
            return state.isClosed
        }
        if isClosed { body() }
    }

    /// Whether its client neither waits for anything nor is waited for: no call, no subscription, no handler.
    public var isIdle: Bool {
        let isIdle = state.withLock { $0.waiting.isEmpty && $0.pendingAnswers.isEmpty && !$0.isClosed }
        return isIdle && !events.hasSubscriptions(self) && !handlers.hasHandlers(self)
    }

    /// Whether its client can still answer for handlers.
    public var answers: Bool { state.withLock { $0.answers } }

    /// Removes the handlers, and fails the calls that wait for their answers.
    private func retireHandlers(_ pending: [(number: Int, receiver: any AnswerReceiver)]) -> Steps {
        let error = CommandError(.scriptFailed, "the handler's connection closed before it answered")
        return handlers.removeAll(of: self)
            + pending.map { call in { _ = call.receiver.receive(.lost(error), number: call.number) } }
    }

    // MARK: Events

    /// Sends an event to its client.
    public func send(_ event: Event, form: WireForm) { output.send(event, form: form) }

    /// Tells its client of an error that none of its calls caused.
    public func report(_ error: CommandError, of command: String, form: WireForm) {
        output.write { $0.appendError(error, command: command, id: nil, form: form) }
    }

    /// The form in which this connection wants to be told of events it missed; nil if it does not.
    public var droppedForm: WireForm? { events.form(of: self, for: DaemonEvents.dropped) }
}

// MARK: Calls that wait

extension Connection: RoutedConnection {
    func write(_ line: (OutputBuffer) -> Void) { output.write(line) }

    func refusal(of command: String, _ entry: MappingEntry?) -> CommandError? {
        // Most sockets have no rule.
        guard let socketRule else { return nil }
        return gatewayUser?.refusal(of: command) ?? socketRule.refusal(of: command, entry)
    }

    var overload: CommandError? {
        let limits = frontController.limits
        let (count, bytes, isCounted) = state.withLock {
            ($0.waiting.count, $0.waiting.bytes, $0.charge.counted > 0)
        }
        let what: String
        if count >= limits.callsPerConnection {
            what = "this connection already has \(count) running calls"
        } else if bytes >= limits.replyBytes {
            what = "the running calls of this connection take \(bytes) bytes"
        } else if isCounted, memory.isUsedUp(by: caller) {
            return memory.refusal(of: "no more running calls", for: caller)
        } else {
            return nil
        }
        return CommandError(.overloaded, "\(what); wait for a reply, or cancel one")
    }

    /// How many calls wait.
    public var waitingCount: Int { state.withLock { $0.waiting.count } }

    func add(_ call: WaitingCall) {
        let (isClosed, change) = state.withLock {
            $0.waiting.add(call)
            return ($0.isClosed, $0.charge.change(to: $0.waiting.memory))
        }
        if let change { memory.add(change, for: caller) }
        if isClosed { call.interrupt(CommandError(.cancelled, "the connection closed")) }
    }

    func remove(_ call: WaitingCall) {
        let (isFinished, change) = state.withLock {
            $0.waiting.remove(call)
            return ($0.inputEnded && $0.waiting.isEmpty, $0.charge.change(to: $0.waiting.memory))
        }
        if let change { memory.add(change, for: caller) }
        if isFinished { output.finish() }
    }

    /// Ends its waiting calls with an error: all of them, or those with an id.
    public func interruptCalls(id: String? = nil, with error: CommandError) {
        let calls = state.withLock { state in
            // JavaScript and Swift compare strings differently.
            state.waiting.calls.filter { call in
                guard let id else { return true }
                return call.id.map { ByteName($0) == ByteName(id) } ?? false
            }
        }
        for call in calls { call.interrupt(error) }
    }

    // MARK: Calls to this client's handlers

    private static let longCall = 16 << 10

    /// Calls a handler of its client, and returns the number of the awaited answer.
    public func callHandler(
        _ handler: String,
        _ call: borrowing Call,
        in phase: Phase,
        for receiver: any AnswerReceiver
    ) -> Int {
        let number = state.withLock { $0.answers ? $0.pendingAnswers.add(receiver) : nil }
        guard let number else {
            _ = receiver.receive(.lost(CommandError(.scriptFailed, "the handler's connection closed")), number: 0)
            return 0
        }
        let isLong = call.request.memory > Self.longCall
        output.writeCall(number, from: call.caller, isLong: isLong) {
            $0.appendCall(of: handler, call, in: phase, number: number)
        }
        return number
    }

    /// Stops waiting for an answer.
    public func forgetAnswer(_ number: Int) { state.withLock { _ = $0.pendingAnswers.take(number) } }

    /// Stops waiting for an answer, and tells the handler if it wants to know.
    public func cancelAnswer(_ number: Int) {
        let isPending = state.withLock { $0.pendingAnswers.take(number) != nil && $0.answers }
        if isPending { output.writeCancel(ofCall: number) { $0.appendCancel(ofCall: number) } }
    }

    /// A call to a handler could not be sent: it ends with that error.
    public func refuseCall(_ number: Int, _ error: CommandError) {
        let receiver = state.withLock { $0.pendingAnswers.take(number) }
        _ = receiver?.receive(.lost(error), number: number)
    }

    private func receiveAnswer(id: String?, _ outcome: HandlerOutcome) {
        let number = id.flatMap { $0.utf8.first == UInt8(ascii: "q") ? Int($0.utf8.dropFirst()) : nil }
        let receiver = number.flatMap { number in state.withLock { $0.pendingAnswers.take(number) } }
        if let number, let receiver, receiver.receive(outcome, number: number) { return }
        handlers.countDroppedAnswer()
    }
}

extension Int {
    /// Accepts only decimal digits.
    fileprivate init?(_ digits: Substring.UTF8View) {
        guard !digits.isEmpty, digits.count <= 18 else { return nil }
        var number = 0
        for byte in digits {
            guard byte &- UInt8(ascii: "0") <= 9 else { return nil }
            number = number * 10 + Int(byte - UInt8(ascii: "0"))
        }
        self = number
    }
}
