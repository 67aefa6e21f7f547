public import JSON
public import QuickConnect

/// A client's half of the conversation with the daemon, as a value: no input or output, no clock. Bytes go in, events
/// and bytes come out, and the time is told to it.
///
/// A driver connects, says so with ``connected()``, hands over what it receives, sends what ``takeOutput()`` gives, says
/// when the connection is lost, and takes the events. A call is never sent twice: those that were under way when a
/// connection was lost fail, those that had not been sent go out over the next one, in their order. Handlers and
/// subscriptions stand until they are taken back: each new connection is told of them.
public struct ClientConversation: Sendable {
    /// The clock by which calls end.
    public typealias Instant = ContinuousClock.Instant

    /// How much a conversation may hold.
    public struct Bounds: Sendable, Hashable {
        /// Calls under way at once. More wait, in order. The daemon takes no more than that.
        public var callsUnderWay = Limits().callsPerConnection
        /// Bytes of all calls without a reply, each with some for itself. One more is `overloaded`.
        public var waitingBytes = 32 << 20
        /// The longest line that the daemon reads, without its line break. A longer one is `tooLarge`.
        public var lineBytes = Limits().lineBytes
        /// Arrays and objects inside each other in a line that the daemon reads.
        public var depth = Limits().depth
        /// The longest line that this client reads: more than a daemon sends.
        public var receivedLineBytes = 64 << 20

        /// The bounds of a client whose program says nothing.
        public init() {}
    }

    /// What happened.
    public enum Event: Sendable, Hashable {
        /// A call has its one reply: the command that it goes under, and its value.
        case replied(CallID, command: String, JSONValue)
        /// A call has failed; nothing more comes for it.
        case failed(CallID, CallFailure)
        case happened(name: String, JSONValue)
        /// Answer it with ``answer(_:with:)``, once.
        case called(HandlerCall)
        /// Nobody waits any more for the answer to that call of a handler that was registered with `hearsCancel`.
        case cancelled(HandlerCall.Number)
        /// The daemon has taken a handler, a subscription or a call of the opening.
        case stands(Standing)
        /// The daemon refuses it. A handler or a subscription stands no more.
        case refused(Standing, CallFailure)
        /// Something that is not of the protocol, or an error that answers no call, such as the refusal of a connection.
        case fault(Fault)
    }

    /// What the daemon should not have said, or said to nobody in particular.
    public enum Fault: Sendable, Hashable {
        /// An error that answers no call.
        case told(ErrorReply)
        /// A line that is none of the protocol; the text says what is wrong with it.
        case unreadable(String)
    }

    /// The form of the calls. Events come in the form of their subscription, replies in that of their call.
    public let form: WireForm
    /// What it holds at most.
    public let bounds: Bounds
    var pending: PendingCalls
    var standing = StandingOrders()
    var splitter: LineSplitter
    var output: [UInt8] = []
    var events: [Event] = []
    /// The calls to handlers that are to be answered, by their ids: whether their handler hears of their end.
    var handlerCalls: [String: Bool] = [:]
    var lastNumber = 0
    /// How many connections there have been.
    public internal(set) var connectionCount = 0
    /// Whether a connection is there.
    public internal(set) var isConnected = false
    /// Replies to no call, dropped since the beginning.
    public internal(set) var droppedReplyCount = 0

    /// - Parameters:
    ///   - form: of the calls.
    ///   - opening: what each connection is told first, in this order: `actFor` of a gateway.
    public init(
        form: WireForm = .bridge,
        bounds: Bounds = Bounds(),
        opening: [(command: String, message: CallMessage)] = []
    ) {
        self.form = form
        self.bounds = bounds
        pending = PendingCalls(most: max(1, bounds.callsUnderWay), mostBytes: bounds.waitingBytes)
        splitter = LineSplitter(limit: bounds.receivedLineBytes)
        standing.opening = opening
    }

    // MARK: Calls

    /// Makes a call. It goes out at once, or waits for a connection, or until fewer are under way. Its reply or its failure
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

    /// Gives a call up: it fails as ``CallFailure/cancelled``. One that is under way is ended by the daemon, too.
    public mutating func cancel(_ id: CallID) {
        guard let call = pending[id.number], !call.isGivenUp else { return }
        giveUp(id.number, .cancelled)
    }

    /// How many calls have no reply yet.
    public var callCount: Int { pending.count }

    /// How many calls wait to be sent.
    public var waitingCount: Int { pending.waitingCount }

    // MARK: What stands

    /// Registers a handler, now and over each new connection.
    /// - Parameter hearsCancel: whether an event tells where nobody waits any more for the answer to one of its calls: its
    ///   caller is gone, has cancelled it, or had no more time, or the connection was lost.
    public mutating func register(handler name: String, hearsCancel: Bool = false) {
        if standing.add(handler: name, hearsCancel: hearsCancel), isConnected {
            say(StandingOrders.call(handler: name, hearsCancel: hearsCancel))
        }
    }

    /// Takes a handler back. Calls to it that are on their way are answered `unavailable`.
    public mutating func remove(handler name: String) {
        guard standing.remove(handler: name), isConnected else { return }
        submit("removeHandler", .value([.string(name)]), .ahead, .nobody)
    }

    /// Subscribes to an event, now and over each new connection. Again replaces the options.
    /// - Parameter options: the device's.
    public mutating func subscribe(to name: String, options: JSONObject? = nil) {
        standing.add(subscription: name, options: options)
        if isConnected { say(StandingOrders.call(subscription: name, options: options)) }
    }

    /// Ends a subscription.
    public mutating func unsubscribe(from name: String) {
        guard standing.remove(subscription: name), isConnected else { return }
        submit("unsubscribe", .value([.string(name)]), .ahead, .nobody)
    }

    /// Whether a connection is needed: something stands, or a call waits to be sent.
    public var needsConnection: Bool { pending.waitingCount > 0 || !standing.isEmpty }

    // MARK: Answers

    /// Answers a call to a handler. One that is answered already, or that came over an earlier connection, is left as it
    /// is: nobody waits for it.
    /// - Returns: whether somebody still waited.
    @discardableResult
    public mutating func answer(
        _ call: HandlerCall,
        with answer: Result<HandlerCall.Answer, HandlerCall.Failure>
    ) -> Bool {
        guard isConnected, call.connection == connectionCount, handlerCalls.removeValue(forKey: call.id) != nil else {
            return false
        }
        var line = call.line(of: answer)
        if let problem = problem(of: line) {
            line = call.line(of: .failure(HandlerCall.Failure(.tooLarge, "the handler's answer: \(problem)")))
        }
        output += line
        return true
    }

    // MARK: Time

    /// When ``advance(to:)`` has something to do next. It may turn out to be nothing.
    public var nextDeadline: Instant? { pending.nextDeadline }

    /// Fails the calls whose deadline is over.
    public mutating func advance(to now: Instant) {
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

    /// Whether bytes wait to be sent.
    public var hasOutput: Bool { !output.isEmpty }

    /// The bytes that are to be sent over this connection. They are given once: what is taken counts as sent.
    public mutating func takeOutput() -> [UInt8] {
        var taken: [UInt8] = []
        swap(&taken, &output)
        return taken
    }
}

extension ClientConversation {
    /// Sends a call, lets it wait, or refuses it.
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
            tell(id, note, .failure(refusal))
            return id
        }
        let isSent = isConnected && pending.mayGo(precedence)
        if isSent { output += line }
        let pendingCall = PendingCalls.Call(precedence, lineBytes: line.count, isSent: isSent)
        _ = line.withUnsafeBufferPointer { pending.add(pendingCall, id.number, $0) }
        pending.add(note, of: id.number)
        return id
    }

    /// Why a call is not even let wait.
    private func refusal(of line: [UInt8], _ precedence: CallID.Precedence) -> CallFailure? {
        if let problem = problem(of: line) { return .tooLarge(problem) }
        guard precedence == .inOrder, !pending.hasRoom(for: line.count) else { return nil }
        return .overloaded(Self.overload(bounds))
    }

    static func overload(_ bounds: Bounds) -> String {
        "the calls that wait for a reply have more than \(bounds.waitingBytes >> 20) MiB; wait for a reply"
    }

    /// Why the daemon would not read a line, which has its line break; nil: it would.
    func problem(of line: [UInt8]) -> String? {
        line.withUnsafeBufferPointer { LineCheck.problem(UnsafeBufferPointer(rebasing: $0.dropLast()), bounds) }
    }

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
        tell(id, note, .failure(failure))
    }

    /// Tells whoever is to know what became of a call.
    mutating func tell(
        _ id: CallID,
        _ note: PendingCalls.Note?,
        _ result: Result<(command: String?, value: JSONValue), CallFailure>
    ) {
        switch (note?.purpose ?? .caller, result) {
        case (.nobody, _): break
        case (.caller, .success(let reply)):
            events.append(.replied(id, command: reply.command ?? note?.command ?? "", reply.value))
        case (.caller, .failure(let failure)): events.append(.failed(id, failure))
        case (.standing(let standing), .success): events.append(.stands(standing))
        case (.standing, .failure(.connectionLost)): break
        case (.standing(let standing), .failure(let failure)):
            withdraw(standing)
            events.append(.refused(standing, failure))
        }
    }

    /// What the daemon refuses stands no more; where it refuses new options only, it still has the old ones.
    private mutating func withdraw(_ standing: Standing) {
        self.standing.remove(standing)
        guard case .subscription(let name) = standing, isConnected else { return }
        submit("unsubscribe", .value([.string(name)]), .ahead, .nobody)
    }
}
