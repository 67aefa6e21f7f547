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
        var waiting: [ObjectIdentifier: WaitingCall] = [:]
        var pendingAnswers: [String: HandlerAnswer.Promise] = [:]
        var answerCount = 0
        var inputEnded = false
        var isClosed = false

        var answers: Bool { !isClosed && !inputEnded }

        mutating func takePendingAnswers() -> [HandlerAnswer.Promise] {
            defer { pendingAnswers = [:] }
            return Array(pendingAnswers.values)
        }
    }

    public let caller: Caller
    public let frontController: FrontController
    private let output: any MessageOutput
    private let state = Mutex(State())

    public init(caller: Caller, frontController: FrontController, output: any MessageOutput) {
        self.caller = caller
        self.frontController = frontController
        self.output = output
    }

    public func send(_ message: OutgoingMessage) { output.send(message) }

    // MARK: Input, from the connection's thread, in order

    /// Handles one line, without its line break. An empty line is ignored.
    public func receive(_ line: borrowing Span<UInt8>) {
        guard line.count > 0 else { return }
        if let call = PlainCall(line), let reply = frontController.emptyReply(to: line.extracting(call.command)) {
            return output.sendLine(reply, line.extracting(call.id))
        }
        let depth = frontController.limits.depth
        switch WireForm(firstByte: line[0]) {
        case .url: receive(URLForm.read(line, maximumDepth: depth), form: .url)
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
    private func retireHandlers(_ pending: [HandlerAnswer.Promise]) {
        frontController.handlers.removeAll(of: self)
        for answer in pending {
            answer.fail(CommandError(.scriptFailed, "the handler's connection closed before it answered"))
        }
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

    func add(_ call: WaitingCall) {
        let isClosed = state.withLock {
            $0.waiting[ObjectIdentifier(call)] = call
            return $0.isClosed
        }
        if isClosed { call.interrupt(CommandError(.cancelled, "the connection closed")) }
    }

    func remove(_ call: WaitingCall) {
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

    /// Passes a call on to a handler of this client. The promise is its answer.
    func callHandler(_ handler: String, for call: borrowing Call, phase: Phase) -> HandlerAnswerPromise {
        let promise = HandlerAnswer.Promise()
        let callbackId = state.withLock { state -> String? in
            guard state.answers else { return nil }
            state.answerCount += 1
            let callbackId = "q\(state.answerCount)"
            state.pendingAnswers[callbackId] = promise
            return callbackId
        }
        guard let callbackId else {
            promise.fail(CommandError(.scriptFailed, "the handler's connection closed"))
            return HandlerAnswerPromise(promise: promise, session: self, callbackId: "")
        }
        send(
            .handlerCall(
                HandlerCall(
                    handler: handler,
                    data: call.request.data ?? .array(call.request.parameters),
                    callbackId: callbackId,
                    command: call.command,
                    phase: phase,
                    results: call.results,
                    error: call.error
                )
            )
        )
        return HandlerAnswerPromise(promise: promise, session: self, callbackId: callbackId)
    }

    func forgetAnswer(_ callbackId: String) {
        state.withLock { $0.pendingAnswers[callbackId] = nil }
    }

    private func receiveAnswer(id: String?, _ result: Result<HandlerAnswer, HandlerFailure>) {
        let promise = id.flatMap { id in state.withLock { $0.pendingAnswers.removeValue(forKey: id) } }
        guard let promise, promise.fulfil(result) else {
            frontController.countDroppedAnswer()
            return
        }
    }
}

extension HandlerAnswer {
    typealias Promise = QuickConnect.Promise<Result<HandlerAnswer, HandlerFailure>>
}

/// The answer of a handler, to come.
struct HandlerAnswerPromise: Sendable {
    let promise: HandlerAnswer.Promise
    let session: Session
    let callbackId: String

    /// Awaits it. When nobody waits any more, a late answer is dropped as an unknown one.
    func value() async throws(CommandError) -> Result<HandlerAnswer, HandlerFailure> {
        do throws(CommandError) {
            return try await promise.value()
        } catch {
            session.forgetAnswer(callbackId)
            throw error
        }
    }
}
