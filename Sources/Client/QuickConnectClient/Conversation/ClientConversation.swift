public import JSON
internal import Linux
public import QuickConnect

/// A client's half of the conversation with the daemon, as a value: no input or output, no clock. Bytes go in, events
/// and bytes come out, and the caller supplies the time.
///
/// A driver connects and calls ``connected()``, passes in what it receives, sends what ``takeOutput()`` returns,
/// reports when the connection is lost, and takes the events. A call is never sent twice: calls that were sent before a
/// connection was lost fail, and calls that had not been sent go out over the next one, in order. Handlers and
/// subscriptions are kept until they are removed, and are renewed on each new connection.
public struct ClientConversation: Sendable {
    /// The clock for deadlines.
    public typealias Instant = ContinuousClock.Instant

    /// The limits of a conversation.
    public struct Bounds: Sendable, Hashable {
        /// Running calls at the same time, as many as the daemon accepts. Further calls wait, in order.
        public var callsUnderWay = Limits().callsPerConnection
        /// Bytes of all calls without a reply, with a fixed amount added for each. A call beyond this gets
        /// `overloaded`.
        public var waitingBytes = 32 << 20
        /// The longest line that the daemon reads, without its line break. A longer one gets `tooLarge`.
        public var lineBytes = Limits().lineBytes
        /// How deep arrays and objects may be nested in a line that the daemon reads.
        public var depth = Limits().depth
        /// The longest line that this client reads: longer than any line of the daemon.
        public var receivedLineBytes = 64 << 20
        /// Lines that are longer are not parsed at once, but put aside (``ClientConversation/takeLongLines()``). By
        /// default none is.
        public var putAsideBytes = Int.max

        /// The default limits.
        public init() {}
    }

    /// What happened.
    public enum Event: Sendable, Hashable {
        /// A call has its final reply: the command of the reply, and its value.
        case replied(CallID, command: String, JSONValue)
        /// A call has failed; nothing more follows for it.
        case failed(CallID, CallFailure)
        case happened(name: String, JSONValue)
        /// Answer it with ``answer(_:with:)``, once.
        case called(HandlerCall)
        /// Nobody waits any more for the answer to that call. Only for handlers registered with `hearsCancel`.
        case cancelled(HandlerCall.Number)
        /// The daemon has accepted a handler, a subscription or a call of the opening.
        case stands(Standing)
        /// The daemon refuses it. A refused handler or subscription is dropped. One that stood over an earlier connection
        /// and is refused as `busy` or `overloaded` is said again each second, and no event.
        case refused(Standing, CallFailure)
        /// Something outside the protocol, or an error that belongs to no call, such as the refusal of a connection.
        case fault(Fault)
    }

    /// Something that the daemon should not have sent, or that belongs to no call.
    public enum Fault: Sendable, Hashable {
        /// An error that belongs to no call.
        case told(ErrorReply)
        /// A line outside the protocol; the text says what is wrong with it.
        case unreadable(String)
    }

    /// The form of the calls. Events have the form of their subscription, replies that of their call.
    public let form: WireForm
    /// Its limits.
    public let bounds: Bounds
    var pending: PendingCalls
    var standing = StandingOrders()
    var renewals = Renewals()
    var splitter: LineSplitter
    var output: [UInt8] = []
    var events: [Event] = []
    var warnings: [String] = []
    /// The unanswered calls to handlers, by id; the value says whether the handler is told when nobody waits any more.
    var handlerCalls: [String: Bool] = [:]
    var lastNumber = 0
    var aside = LinesAside()
    /// How many connections there have been.
    public internal(set) var connectionCount = 0
    /// Whether there is a connection.
    public internal(set) var isConnected = false
    /// How many replies to unknown calls have been dropped.
    public internal(set) var droppedReplyCount = 0

    /// - Parameters:
    ///   - form: the form of the calls.
    ///   - opening: the calls sent first on each connection, in this order, such as a gateway's `actFor`.
    public init(
        form: WireForm = .bridge,
        bounds: Bounds = Bounds(),
        opening: [(command: String, message: CallMessage)] = []
    ) {
        self.form = form
        self.bounds = bounds
        pending = PendingCalls(most: max(1, bounds.callsUnderWay), maxBytes: bounds.waitingBytes)
        splitter = LineSplitter(limit: bounds.receivedLineBytes)
        standing.opening = opening
    }

    // MARK: Calls

    /// Makes a call. It is sent at once, or waits for a connection or for other calls to end. Its reply or its failure
    /// is an event.
    /// - Parameter deadline: when it fails as ``CallFailure/timedOut``, sent or not; nil: never.
    @discardableResult
    public mutating func call(
        _ command: String,
        _ message: CallMessage = .none,
        before deadline: Instant? = nil
    ) -> CallID {
        submit(command, message, .inOrder, .caller, before: deadline)
    }

    /// Cancels a call: it fails as ``CallFailure/cancelled``. If it was sent, the daemon ends it, too.
    public mutating func cancel(_ id: CallID) {
        guard let call = pending[id.number], !call.isGivenUp else { return }
        giveUp(id.number, .cancelled)
    }

    /// How many calls have no reply yet.
    public var callCount: Int { pending.count }

    /// How many calls wait to be sent.
    public var waitingCount: Int { pending.waitingCount }

    // MARK: What stands

    /// Registers a handler, now and on each new connection.
    /// - Parameter hearsCancel: whether an event tells when nobody waits any more for the answer to one of its calls:
    ///   its caller is gone, has cancelled it, or its time ran out, or the connection was lost.
    public mutating func register(handler name: String, hearsCancel: Bool = false) {
        if standing.add(handler: name, hearsCancel: hearsCancel), isConnected {
            say(StandingOrders.call(handler: name, hearsCancel: hearsCancel))
        }
    }

    /// Removes a handler. Calls to it that are still on their way are answered with `unavailable`.
    public mutating func remove(handler name: String) {
        guard standing.remove(.handler(name)), isConnected else { return }
        submit("removeHandler", .value([.string(name)]), .ahead, .nobody)
    }

    /// Subscribes to an event, now and on each new connection. Subscribing again replaces the options.
    /// - Parameter options: the options of the device's event.
    public mutating func subscribe(to name: String, options: JSONObject? = nil) {
        standing.add(subscription: name, options: options)
        if isConnected { say(StandingOrders.call(subscription: name, options: options)) }
    }

    /// Ends a subscription.
    public mutating func unsubscribe(from name: String) {
        guard standing.remove(.subscription(name)), isConnected else { return }
        submit("unsubscribe", .value([.string(name)]), .ahead, .nobody)
    }

    /// Whether a connection is needed: there are handlers or subscriptions, or a call waits to be sent.
    public var needsConnection: Bool { pending.waitingCount > 0 || !standing.isEmpty }

    // MARK: Answers

    /// Answers a call to a handler. A call that has been answered, or that came over an earlier connection, is ignored:
    /// nobody waits for it.
    /// - Returns: whether somebody was still waiting.
    @discardableResult
    public mutating func answer(
        _ call: HandlerCall,
        with answer: Result<HandlerCall.Answer, HandlerCall.Failure>
    ) -> Bool {
        isAwaited(call.number) && self.answer(call.answer(answer, bounds: bounds))
    }

    /// The same with an answer that was made before, maybe by another thread.
    @discardableResult
    public mutating func answer(_ line: AnswerLine) -> Bool {
        guard isAwaited(line.number) else { return false }
        handlerCalls[line.number.id] = nil
        output += line.bytes
        return true
    }

    private func isAwaited(_ number: HandlerCall.Number) -> Bool {
        isConnected && number.connection == connectionCount && handlerCalls[number.id] != nil
    }

    // MARK: Time

    /// When ``advance(to:)`` must be called next. It may then have nothing to do.
    public var nextDeadline: Instant? { [pending.nextDeadline, renewals.nextDeadline].compactMap { $0 }.min() }

    /// Fails the calls whose deadline has passed, and says again what was refused for a while.
    public mutating func advance(to now: Instant) {
        for standing in renewals.takeDue(at: now) { self.standing.call(standing).map { say($0) } }
        while let number = pending.takeLate(at: now) { giveUp(number, .timedOut) }
    }

    // MARK: What came of it

    /// Whether an event waits to be taken.
    public var hasEvents: Bool { !events.isEmpty }

    /// The events since the last time, in order.
    public mutating func takeEvents() -> [Event] {
        var taken: [Event] = []
        swap(&taken, &events)
        return taken
    }

    /// What the daemon has added to its acceptance of handlers and subscriptions since the last time, such as that no call
    /// comes to a handler. At most the newest 64 are kept.
    public mutating func takeWarnings() -> [String] {
        defer { warnings = [] }
        return warnings
    }

    private mutating func keep(_ warning: String) { warnings = warnings.suffix(63) + [warning] }

    /// Whether bytes wait to be sent.
    public var hasOutput: Bool { !output.isEmpty }

    /// The bytes to send over this connection. They are returned once: what is taken counts as sent.
    public mutating func takeOutput() -> [UInt8] {
        var taken: [UInt8] = []
        swap(&taken, &output)
        return taken
    }
}

extension ClientConversation {
    /// Sends a call, queues it, or refuses it.
    @discardableResult
    mutating func submit(
        _ command: String,
        _ message: CallMessage,
        _ precedence: CallID.Precedence,
        _ purpose: PendingCalls.Purpose,
        before deadline: Instant? = nil
    ) -> CallID {
        lastNumber += 1
        let id = CallID(precedence, lastNumber)
        let line = message.line(of: command, id: id.text, form: form)
        let note = PendingCalls.Note(purpose: purpose, command: command, deadline: deadline)
        if let refusal = refusal(of: line, precedence) {
            report(id, note, .failure(refusal))
            return id
        }
        let isSent = isConnected && pending.mayGo(precedence)
        if isSent { output += line }
        let pendingCall = PendingCalls.Call(precedence, lineBytes: line.count, isSent: isSent)
        _ = line.withUnsafeBufferPointer { pending.add(pendingCall, id.number, $0) }
        pending.add(note, of: id.number)
        return id
    }

    /// Why a call is not even queued.
    private func refusal(of line: [UInt8], _ precedence: CallID.Precedence) -> CallFailure? {
        if let problem = problem(of: line) { return .tooLarge(problem) }
        guard precedence == .inOrder, !pending.hasRoom(for: line.count) else { return nil }
        return .overloaded(Self.overload(bounds))
    }

    static func overload(_ bounds: Bounds) -> String {
        "the calls that wait for a reply have more than \(bounds.waitingBytes >> 20) MiB; wait for a reply"
    }

    /// Why the daemon would reject a line, given with its line break; nil if it would not.
    func problem(of line: [UInt8]) -> String? { bounds.problem(of: line) }

    mutating func say(_ call: StandingOrders.Call) {
        submit(call.command, call.message, .ahead, .standing(call.standing))
    }

    private mutating func giveUp(_ number: Int, _ failure: CallFailure) {
        guard let call = pending[number] else { return }
        let id = CallID(call.precedence, number)
        let note = pending.note(of: number)
        if call.isSent {
            pending.giveUp(number)
            if isConnected { submit("cancel", .value([.string(id.text)]), .ahead, .nobody) }
        } else {
            _ = pending.take(number)
            _ = pending.takeNote(of: number)
        }
        report(id, note, .failure(failure))
    }

    /// Reports the result of a call to those who are interested.
    mutating func report(
        _ id: CallID,
        _ note: PendingCalls.Note?,
        _ result: Result<(command: String?, value: JSONValue), CallFailure>
    ) {
        switch (note?.purpose ?? .caller, result) {
        case (.nobody, _): break
        case (.caller, .success(let reply)):
            events.append(.replied(id, command: reply.command ?? note?.command ?? "", reply.value))
        case (.caller, .failure(let failure)): events.append(.failed(id, failure))
        case (.standing(let standing), .success(let reply)):
            self.standing.accept(standing, over: connectionCount)
            events.append(.stands(standing))
            if let warning = reply.value.objectValue?["warning"]?.stringValue { keep(warning) }
        case (.standing, .failure(.connectionLost)): break
        case (.standing(let standing), .failure(let failure)):
            let isRenewed = self.standing.isRenewed(standing, over: connectionCount)
            if isRenewed, renewals.add(standing, refused: failure) { break }
            withdraw(standing)
            events.append(.refused(standing, failure))
        }
    }

    /// Drops what the daemon refuses. If it refuses only new options, it still has the old ones.
    private mutating func withdraw(_ standing: Standing) {
        self.standing.remove(standing)
        guard case .subscription(let name) = standing, isConnected else { return }
        submit("unsubscribe", .value([.string(name)]), .ahead, .nobody)
    }
}
