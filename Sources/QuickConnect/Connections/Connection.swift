import JSON
import Synchronization

/// One connection's conversation with the daemon: lines in, lines out. It does no I/O, so tests can use it directly.
public final class Connection: CallConnection {
    private let peer: Caller
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
    private let output: any ConnectionOutput
    private let state = Mutex(State())

    private struct State {
        var waiting = WaitingList()
        var pendingAnswers = PendingAnswers()
        var inputEnded = false
        var isClosed = false
        var closings: [@Sendable () -> Void] = []

        var answers: Bool { !isClosed && !inputEnded }
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
        gatewayUser = socketRule?.gateway.map { GatewayUser($0) }
        self.socketRule = socketRule
        frontController = router.frontController
        handlers = router.handlers
        events = router.events
        self.output = output
    }

    // MARK: Who calls

    /// The process that connected, or the user that a gateway has named.
    public var caller: Caller { gatewayUser?.caller ?? peer }

    /// Acts for a gateway's user from now on. Throws `denied` the second time, and if the socket belongs to no gateway.
    public func act(for user: String, groups: Set<String>) throws(CommandError) {
        guard let gatewayUser else {
            throw CommandError(
                .denied,
                "only gateways call actFor, on sockets of their own: see 'sockets' in the settings"
            )
        }
        try gatewayUser.name(user, groups: groups)
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
    /// - Parameter start: the beginning of the line, as much of it as was kept.
    public func receiveOverlongLine(_ start: UnsafeBufferPointer<UInt8>) {
        let limit = frontController.limits.lineBytes
        let error = CommandError(.tooLarge, "the line is longer than \(limit) bytes and was skipped")
        if let id = BridgeForm.responseID(atStartOf: start) {
            let failure = HandlerFailure(code: .tooLarge, message: "the handler's answer is longer than \(limit) bytes")
            return receiveAnswer(id: id, .failure(failure))
        }
        let form = WireForm(firstByte: start.first)
        output.write { $0.appendError(error, command: nil, id: nil, form: form) }
    }

    /// The client will send nothing more, but still reads. Its handlers can no longer answer.
    public func endInput() {
        let (isFinished, pending) = state.withLock {
            $0.inputEnded = true
            return ($0.waiting.isEmpty, $0.pendingAnswers.takeAll())
        }
        retireHandlers(pending)
        if isFinished { output.finish() }
    }

    /// The connection is gone: ends its waiting calls and removes its handlers and subscriptions.
    public func close() {
        let (waiting, pending, closings) = state.withLock { state in
            state.isClosed = true
            defer { state.closings = [] }
            return (state.waiting.calls, state.pendingAnswers.takeAll(), state.closings)
        }
        retireHandlers(pending)
        events.unsubscribeAll(self)
        for call in waiting { call.interrupt(CommandError(.cancelled, "the connection closed")) }
        for closed in closings { closed() }
    }

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

    /// Whether its client can still answer for handlers.
    public var answers: Bool { state.withLock { $0.answers } }

    /// Removes the handlers, and fails the calls that wait for their answers.
    private func retireHandlers(_ pending: [(number: Int, receiver: any AnswerReceiver)]) {
        handlers.removeAll(of: self)
        let error = CommandError(.scriptFailed, "the handler's connection closed before it answered")
        for call in pending { _ = call.receiver.receive(.lost(error), number: call.number) }
    }

    // MARK: Events

    /// Sends an event to its client.
    public func send(_ event: Event, form: WireForm) { output.send(event, form: form) }

    /// Tells its client of an error that none of its calls caused.
    public func tell(_ error: CommandError, of command: String, form: WireForm) {
        output.write { $0.appendError(error, command: command, id: nil, form: form) }
    }

    /// The form in which this connection wants to be told of events it missed; nil if it does not.
    public var droppedForm: WireForm? { events.form(of: self, for: DaemonEvents.dropped) }
}

// MARK: Calls that wait

extension Connection: RoutedConnection {
    func write(_ line: (OutputBuffer) -> Void) { output.write(line) }

    func refusal(of command: String) -> CommandError? {
        // Most sockets have no rule.
        guard let socketRule else { return nil }
        return gatewayUser?.refusal(of: command) ?? socketRule.refusal(of: command)
    }

    var lackOfRoom: CommandError? {
        let limits = frontController.limits
        let (count, bytes) = state.withLock { ($0.waiting.count, $0.waiting.bytes) }
        let what: String
        if count >= limits.callsPerConnection {
            what = "this connection already has \(count) running calls"
        } else if bytes >= limits.replyBytes {
            what = "the running calls of this connection take \(bytes) bytes"
        } else {
            return nil
        }
        return CommandError(.overloaded, "\(what); wait for a reply, or cancel one")
    }

    /// How many calls wait.
    public var waitingCount: Int { state.withLock { $0.waiting.count } }

    func add(_ call: WaitingCall) {
        let isClosed = state.withLock {
            $0.waiting.add(call)
            return $0.isClosed
        }
        if isClosed { call.interrupt(CommandError(.cancelled, "the connection closed")) }
    }

    func remove(_ call: WaitingCall) {
        let isFinished = state.withLock {
            $0.waiting.remove(call)
            return $0.inputEnded && $0.waiting.isEmpty
        }
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
        output.write { $0.appendCall(of: handler, call, in: phase, number: number) }
        return number
    }

    /// Stops waiting for an answer.
    public func forgetAnswer(_ number: Int) { state.withLock { _ = $0.pendingAnswers.take(number) } }

    /// Stops waiting for an answer, and tells the handler if it wants to know.
    public func cancelAnswer(_ number: Int) {
        let isPending = state.withLock { $0.pendingAnswers.take(number) != nil && $0.answers }
        if isPending { output.write { $0.appendCancel(ofCall: number) } }
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
