internal import Glibc
import JSON
import NIOCore
import QuickConnect

/// One client's connection, as any thread may write to it.
final class SocketOutput: ConnectionOutput {
    private let eventLoop: any EventLoop
    /// The event loop's. To compare it costs less than to ask the loop, with each reply.
    private let thread = pthread_self()
    /// Completes when the connection is closed.
    let closeFuture: EventLoopFuture<Void>
    // Touched on the event loop only, which each use below has asked for.
    nonisolated(unsafe) private let handler: ConnectionHandler

    /// Made on the event loop of the connection.
    init(_ handler: ConnectionHandler, _ channel: any Channel) {
        eventLoop = channel.eventLoop
        closeFuture = channel.closeFuture
        self.handler = handler
    }

    // A loop may run on several threads one after another, as the one for tests does.
    private var isOnEventLoop: Bool { pthread_equal(pthread_self(), thread) != 0 || eventLoop.inEventLoop }

    func write(_ line: (OutputBuffer) -> Void) {
        if isOnEventLoop {
            handler.write(line)
        } else {
            let buffer = OutputBuffer()
            line(buffer)
            let contents = buffer.take()
            eventLoop.execute { self.handler.write { $0.append(contents) } }
        }
    }

    func send(_ event: Event, form: WireForm) { onEventLoop { $0.send(event, form: form) } }

    func finish() {
        // Behind the lines that other threads have queued, also when this is the event loop.
        eventLoop.execute { self.handler.closeWhenFlushed() }
    }

    /// Closes the connection: when its last replies are out, or after this time.
    func finish(within time: TimeAmount) {
        eventLoop.execute { self.handler.finish(within: time) }
    }

    /// Ends the calls under way with an error; their replies still go out.
    func interruptCalls(with error: CommandError) {
        onEventLoop { $0.connection?.interruptCalls(with: error) }
    }

    private func onEventLoop(_ body: @escaping @Sendable (ConnectionHandler) -> Void) {
        if isOnEventLoop {
            body(handler)
        } else {
            eventLoop.execute { body(self.handler) }
        }
    }
}
