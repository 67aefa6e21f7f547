import JSON

/// The connection that a call came on, as far as command objects may see it.
public protocol CallConnection: AnyObject, Sendable {
    var caller: Caller { get }
    /// The commands of the socket that it came on; nil where all are.
    var socketRule: SocketRule? { get }
    /// The process at the other end, where the transport knows it.
    var process: CallingProcess? { get }
    /// Whether the client is gone.
    var isClosed: Bool { get }
    /// Runs `body` when the client is gone, at once where it is already: for what shall not outlive its connection. Any
    /// thread; `body` must not block.
    func whenClosed(_ body: @escaping @Sendable () -> Void)
    /// Whether the client can still answer for a handler.
    var answers: Bool { get }

    /// Ends the waiting calls with this id; nil: all of them.
    func interruptCalls(id: String?, with error: CommandError)

    /// Makes a gateway's connection that of one of its users, from now on: `actFor`. `denied` on another socket, a second
    /// time, and where another call came first.
    func act(for user: String, groups: Set<String>) throws(CommandError)

    /// Tells the client of an error that no call of now has had, such as a right that a reload took away.
    func tell(_ error: CommandError, of command: String, form: WireForm)

    /// Sends an event. Any thread; never blocks.
    func send(_ event: Event, form: WireForm)

    /// Passes a call on to a handler of this client.
    /// - Returns: the number under which the answer is awaited; `receiver` hears where there will be none.
    func callHandler(
        _ handler: String,
        _ call: borrowing Call,
        in phase: Phase,
        for receiver: any AnswerReceiver
    ) -> Int

    /// Nobody waits for that answer any more.
    func forgetAnswer(_ number: Int)

    /// The same, and the client hears of it, where it has not answered yet.
    func cancelAnswer(_ number: Int)
}

extension CallConnection {
    /// Does what forgetting does, for connections whose handlers are not told of it.
    public func cancelAnswer(_ number: Int) { forgetAnswer(number) }
}
