import Synchronization

/// Where a session's lines go: the connection, as the session sees it.
public protocol MessageOutput: Sendable {
    /// Sends a line. Called on any thread; must not block.
    func send(_ message: OutgoingMessage)
    /// Sends a line that is made of a start and an id, on the connection's own thread.
    func sendLine(_ start: [UInt8], _ id: borrowing Span<UInt8>)
    /// The client has ended its input and has got all its replies: the connection may be closed.
    func finish()
}

/// One connection's conversation with the daemon: lines in, messages out. No I/O, so it is tested as it is.
public final class Session: Sendable {
    private struct State {
        var waiting: [ObjectIdentifier: any PendingCall] = [:]
        /// By their number: the id `q7` has 7.
        var pendingAnswers: [Int: HandlerAnswer.Receiver] = [:]
        var answerCount = 0
        var inputEnded = false
        var isClosed = false

        var answers: Bool { !isClosed && !inputEnded }

        mutating func takePendingAnswers() -> [HandlerAnswer.Receiver] {
            defer { pendingAnswers = [:] }
            return Array(pendingAnswers.values)
        }
    }

    public let caller: Caller
    public let frontController: FrontController
    /// The commands of the socket that it came on; nil where all are.
    public let socketRule: SocketRule?
    /// The process at the other end, where the transport knows it.
    public let process: CallingProcess?
    private let output: any MessageOutput
    private let state = Mutex(State())

    public init(
        caller: Caller,
        frontController: FrontController,
        output: any MessageOutput,
        socketRule: SocketRule? = nil,
        process: CallingProcess? = nil
    ) {
        self.process = process
        self.caller = caller
        self.socketRule = socketRule
        self.frontController = frontController
        self.output = output
    }

    public func send(_ message: OutgoingMessage) { output.send(message) }

    // MARK: Input, from the connection's thread, in order

    /// Handles one line, without its line break. An empty line is ignored.
    public func receive(_ line: borrowing Span<UInt8>) {
        guard line.count > 0 else { return }
        if socketRule == nil, let call = PlainCall(line),
            let reply = frontController.emptyReply(to: line.extracting(call.command))
        {
            return output.sendLine(reply, line.extracting(call.id))
        }
        let depth = frontController.limits.depth
        switch WireForm(firstByte: line[0]) {
        case .url: receive(URLForm.read(line, maximumDepth: depth), form: .url)
        case .bridge where line[0] == UInt8(ascii: "{"):
            receive(BridgeForm.readMessage(line, maximumDepth: depth), form: .bridge)
        case .bridge:
            for message in BridgeForm.read(line, maximumDepth: depth) { receive(message, form: .bridge) }
        }
    }

    /// Answers a line that was longer than the limit and has been skipped.
    public func receiveOverlongLine(firstByte: UInt8?) {
        let limit = frontController.limits.lineBytes
        let error = CommandError(.tooLarge, "the line is longer than \(limit) bytes and was skipped")
        send(.reply(Reply(error: error, form: WireForm(firstByte: firstByte))))
    }

    /// The client will send nothing more, but still reads. It can answer for no handler any more.
    public func endInput() {
        let (isFinished, pending) = state.withLock {
            $0.inputEnded = true
            return ($0.waiting.isEmpty, $0.takePendingAnswers())
        }
        retireHandlers(pending)
        if isFinished { output.finish() }
    }

    /// The connection is gone: ends its waiting calls and takes back its handlers and subscriptions.
    public func close() {
        let (waiting, pending) = state.withLock {
            $0.isClosed = true
            return ($0.waiting.values.map { $0 }, $0.takePendingAnswers())
        }
        retireHandlers(pending)
        frontController.events.unsubscribeAll(self)
        for call in waiting { call.interrupt(CommandError(.cancelled, "the connection closed")) }
    }

    /// Whether the connection is gone.
    var isClosed: Bool { state.withLock { $0.isClosed } }

    /// Whether the client can still answer for a handler.
    var answers: Bool { state.withLock { $0.answers } }

    /// Takes the handlers back, and fails the calls that await their answers.
    private func retireHandlers(_ pending: [HandlerAnswer.Receiver]) {
        frontController.handlers.removeAll(of: self)
        let error = CommandError(.scriptFailed, "the handler's connection closed before it answered")
        for receive in pending { _ = receive(.failure(error)) }
    }

    private func receive(_ message: IncomingMessage, form: WireForm) {
        switch message {
        case .call(let request): frontController.handleRequest(request, from: self)
        case .answer(let id, let result): receiveAnswer(id: id, result)
        case .unreadable(let message):
            send(.reply(Reply(error: message.error, call: message.command, id: message.id, form: form)))
        }
    }

    // MARK: Waiting calls

    /// Whether one more call may wait.
    var hasRoom: Bool {
        state.withLock { $0.waiting.count < frontController.limits.callsPerConnection }
    }

    /// The calls that wait.
    public var waitingCount: Int { state.withLock { $0.waiting.count } }

    func add(_ call: some PendingCall) {
        let isClosed = state.withLock {
            $0.waiting[ObjectIdentifier(call)] = call
            return $0.isClosed
        }
        if isClosed { call.interrupt(CommandError(.cancelled, "the connection closed")) }
    }

    func remove(_ call: some PendingCall) {
        let isFinished = state.withLock {
            $0.waiting[ObjectIdentifier(call)] = nil
            return $0.inputEnded && $0.waiting.isEmpty
        }
        if isFinished { output.finish() }
    }

    /// Ends the waiting calls with this id, or all of them, with an error.
    public func interruptCalls(id: String? = nil, with error: CommandError) {
        let calls = state.withLock { state in
            state.waiting.values.filter { id == nil || $0.id == id }
        }
        for call in calls { call.interrupt(error) }
    }

    // MARK: Calls to this client's handlers

    /// Passes a call on to a handler of this client.
    /// - Parameters:
    ///   - call: its `callbackId` is filled in here.
    ///   - receive: is given the answer, or why there will be none, once, on the thread that brings it; false where
    ///     nobody waits for it any more.
    /// - Returns: the number under which the answer is awaited.
    func callHandler(_ call: HandlerCall, receive: @escaping HandlerAnswer.Receiver) -> Int {
        let number = state.withLock { state -> Int? in
            guard state.answers else { return nil }
            state.answerCount += 1
            state.pendingAnswers[state.answerCount] = receive
            return state.answerCount
        }
        guard let number else {
            _ = receive(.failure(CommandError(.scriptFailed, "the handler's connection closed")))
            return 0
        }
        var call = call
        call.callbackId = "q" + String(number)
        send(.handlerCall(call))
        return number
    }

    func forgetAnswer(_ number: Int) {
        state.withLock { $0.pendingAnswers[number] = nil }
    }

    private func receiveAnswer(id: String?, _ result: Result<HandlerAnswer, HandlerFailure>) {
        let number = id.flatMap { $0.utf8.first == UInt8(ascii: "q") ? Int($0.dropFirst()) : nil }
        let receive = number.flatMap { number in state.withLock { $0.pendingAnswers.removeValue(forKey: number) } }
        guard let receive, receive(.success(result)) else {
            frontController.countDroppedAnswer()
            return
        }
    }
}

extension HandlerAnswer {
    /// Takes the answer of a handler, or why there will be none, and says whether anybody waits for it.
    typealias Receiver = @Sendable (Result<Result<HandlerAnswer, HandlerFailure>, CommandError>) -> Bool
}
