/// The connection of a call, limited to what command objects may see.
public protocol CallConnection: AnyObject, Sendable {
    var caller: Caller { get }
    /// The list of commands of the socket it came on; nil if all commands are allowed.
    var socketRule: SocketRule? { get }
    /// The process at the other end, if the transport knows it.
    var process: CallingProcess? { get }
    /// Whether the client is gone.
    var isClosed: Bool { get }
    /// Runs `body` when the client is gone, or at once if it already is: for what must not outlive its connection.
    /// Called on any thread; `body` must not block.
    func whenClosed(_ body: @escaping @Sendable () -> Void)
    /// Whether the client can still answer for a handler.
    var answers: Bool { get }

    /// Ends the waiting calls with this id, or all of them if it is nil.
    func interruptCalls(id: String?, with error: CommandError)

    /// Makes a gateway's connection act for one of its users from now on: `actFor`. Throws `denied` on another socket,
    /// the second time, and if another call came first.
    /// - Parameter hearsLeases: whether it is told when something is leased to it, so that it finds out soon when its user
    ///   is gone.
    func act(for user: String, groups: Set<String>, hearsLeases: Bool) throws(CommandError)

    /// Something is leased to it, or is not any more: as often the one as the other. Called on one thread.
    func lease(begins: Bool)

    /// Tells the client of an error that none of its current calls caused, such as a right that a reload took away.
    func report(_ error: CommandError, of command: String, form: WireForm)

    /// Sends an event. Called on any thread; never blocks.
    func send(_ event: Event, form: WireForm)

    /// Passes a call on to a handler of this client.
    /// - Returns: the number of the awaited answer; `receiver` is told if there will be none.
    func callHandler(
        _ handler: String,
        _ call: borrowing Call,
        in phase: Phase,
        for receiver: any AnswerReceiver
    ) -> Int

    /// Stops waiting for that answer.
    func forgetAnswer(_ number: Int)

    /// Stops waiting for that answer, and tells the client unless it has answered.
    func cancelAnswer(_ number: Int)
}

extension CallConnection {
    /// Nothing more: for connections that close as soon as their client is gone.
    public func lease(begins: Bool) {}

    /// Only forgets the answer: for connections whose handlers are not told of a cancellation.
    public func cancelAnswer(_ number: Int) { forgetAnswer(number) }
}
