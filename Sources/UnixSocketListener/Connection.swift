import NIOCore
import QuickConnect

/// One client's connection, as any thread may use it.
final class Connection: MessageOutput {
    private let eventLoop: any EventLoop
    /// Completes when the connection is closed.
    let closeFuture: EventLoopFuture<Void>
    private let handler: NIOLoopBound<ConnectionHandler>

    /// Made on the event loop of the connection.
    init(_ handler: ConnectionHandler, _ channel: any Channel) {
        eventLoop = channel.eventLoop
        closeFuture = channel.closeFuture
        self.handler = NIOLoopBound(handler, eventLoop: eventLoop)
    }

    func send(_ message: OutgoingMessage) {
        if eventLoop.inEventLoop {
            handler.value.append(message)
        } else {
            eventLoop.execute { self.handler.value.append(message) }
        }
    }

    func sendLine(_ start: [UInt8], _ id: borrowing Span<UInt8>) {
        handler.value.appendLine(start, id)
    }

    func finish() {
        // Behind the messages that other threads have queued, also when this is the event loop.
        eventLoop.execute { self.handler.value.closeWhenFlushed() }
    }

    /// Closes the connection: when its last replies are out, or after this time.
    func finish(within time: TimeAmount) {
        eventLoop.execute { self.handler.value.finish(within: time) }
    }

    /// Ends the calls under way with an error; their replies still go out.
    func interruptCalls(with error: CommandError) {
        onEventLoop { $0.session?.interruptCalls(with: error) }
    }

    private func onEventLoop(_ body: @escaping @Sendable (ConnectionHandler) -> Void) {
        if eventLoop.inEventLoop {
            body(handler.value)
        } else {
            eventLoop.execute { body(self.handler.value) }
        }
    }
}
