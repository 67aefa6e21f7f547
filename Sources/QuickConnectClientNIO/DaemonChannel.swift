public import JSON
public import NIOCore
internal import NIOPosix
public import QuickConnectClient

/// The conversation with the daemon on an event loop, for a program that is built on SwiftNIO anyway, such as a gateway.
///
/// It connects by itself, and again when the connection is lost, as ``ClientConversation`` says what that means. Any thread
/// may call it; everything happens on its loop, events in their order.
public final class DaemonChannel: Sendable {
    /// What becomes of a call: the command that its reply goes under, and its value.
    public typealias Reply = (command: String, value: JSONValue)

    /// The loop that all of it runs on.
    public let eventLoop: any EventLoop
    private let driver: NIOLoopBound<ConversationDriver>

    /// - Parameters:
    ///   - eventLoop: the one that all of it runs on.
    ///   - paths: the sockets to try, in their order: ``SocketPaths/candidates(named:environment:)``.
    ///   - conversation: with its form, bounds and opening (`actFor`). Nothing need have been said yet.
    ///   - onEvent: called on the loop with each event but the replies to ``call(_:_:timeout:)``.
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

    /// Makes a call. It waits for a connection where there is none.
    /// - Parameter timeout: how long to wait for the reply; nil: as long as it takes.
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

    /// Does something with the conversation on its loop: registers a handler, subscribes, answers a call.
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
