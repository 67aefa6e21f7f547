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
}
