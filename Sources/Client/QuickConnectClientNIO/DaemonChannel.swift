public import JSON
public import NIOCore
public import QuickConnectClient

/// The conversation with the daemon on an event loop, for a program that uses SwiftNIO anyway, such as a gateway.
///
/// It connects by itself, and reconnects when the connection is lost, with the consequences described at
/// ``ClientConversation``. Any thread may call it; everything runs on its loop, events in order.
public final class DaemonChannel: Sendable {
    /// The result of a call: the command of its reply, and its value.
    public typealias Reply = (command: String, value: JSONValue)

    /// The loop that everything runs on.
    public let eventLoop: any EventLoop
    private let driver: NIOLoopBound<ConversationDriver>

    /// - Parameters:
    ///   - eventLoop: the loop that everything runs on.
    ///   - paths: the sockets to try, in order: ``SocketPaths/candidates(named:environment:)``.
    ///   - conversation: a conversation with its form, bounds and opening (`actFor`).
    ///   - onEvent: called on the loop with each event except the replies to ``call(_:_:timeout:)``.
    public static func make(
        on eventLoop: any EventLoop,
        paths: [String],
        _ conversation: ClientConversation = ClientConversation(),
        onEvent: @escaping @Sendable (ClientConversation.Event, DaemonChannel) -> Void = { _, _ in }
    ) -> EventLoopFuture<DaemonChannel> {
        eventLoop.submit {
            let driver = ConversationDriver(eventLoop, paths, conversation)
            let channel = DaemonChannel(eventLoop, NIOLoopBound(driver, eventLoop: eventLoop))
            driver.onEvent = { [weak channel] event in
                if let channel { onEvent(event, channel) }
            }
            driver.connect()
            return channel
        }
    }

    private init(_ eventLoop: any EventLoop, _ driver: NIOLoopBound<ConversationDriver>) {
        self.eventLoop = eventLoop
        self.driver = driver
    }

    deinit {
        let driver = driver
        eventLoop.execute { driver.value.close() }
    }

    /// Makes a call. It waits for a connection if there is none.
    /// - Parameter timeout: how long to wait for the reply; nil: no limit.
    /// - Returns: the reply, or a ``CallFailure``.
    public func call(
        _ command: String,
        _ message: CallMessage = .none,
        timeout: Duration? = nil
    ) -> EventLoopFuture<Reply> {
        let promise = eventLoop.makePromise(of: Reply.self)
        let deadline = timeout.map { ContinuousClock.now + $0 }
        perform { driver in driver.call(command, message, deadline, promise) }
        return promise.futureResult
    }

    /// Uses the conversation on its loop: to register a handler, subscribe, or answer a call.
    public func perform(_ body: @escaping @Sendable (inout ClientConversation) -> Void) {
        perform { driver in body(&driver.conversation) }
    }

    private func perform(_ body: @escaping @Sendable (ConversationDriver) -> Void) {
        let driver = driver
        let run: @Sendable () -> Void = {
            body(driver.value)
            driver.value.goOn()
        }
        if eventLoop.inEventLoop { run() } else { eventLoop.execute(run) }
    }

    /// Ends the connection. Calls without a reply fail, and nothing is sent any more.
    public func close() -> EventLoopFuture<Void> {
        let driver = driver
        return eventLoop.submit { driver.value.close() }
    }
}
