internal import Glibc
import JSON
import NIOCore
import QuickConnect

/// One client's connection, writable from any thread.
final class SocketOutput: ConnectionOutput {
    private let eventLoop: any EventLoop
    /// The event loop's thread, if it has one. Comparing it costs less than asking the loop for each reply.
    private let thread: pthread_t?
    /// Completes when the connection is closed.
    let closeFuture: EventLoopFuture<Void>
    // Used on the event loop only, which each use below has checked.
    nonisolated(unsafe) private let handler: ConnectionHandler

    /// Made on the event loop of the connection.
    init(_ handler: ConnectionHandler, _ channel: any Channel, thread: pthread_t?) {
        self.thread = thread
        eventLoop = channel.eventLoop
        closeFuture = channel.closeFuture
        self.handler = handler
    }

    /// Since when it has been idle, in nanoseconds of the loop's clock; nil if it is not. On the event loop only.
    var idleSince: UInt64? { handler.isIdle ? handler.lastReceived.uptimeNanoseconds : nil }

    /// Tells its client why, and closes.
    func refuse(_ error: CommandError) { onEventLoop { $0.refuse(error) } }

    private var isOnEventLoop: Bool {
        thread.map { pthread_equal(pthread_self(), $0) != 0 } ?? eventLoop.inEventLoop
    }

    func write(_ line: (OutputBuffer) -> Void) {
        if isOnEventLoop {
            handler.write(line)
        } else {
            let contents = Self.contents(line)
            eventLoop.execute { self.handler.write { $0.append(contents) } }
        }
    }

    func writeCall(_ number: Int, from caller: Caller, isLong: Bool, _ line: (OutputBuffer) -> Void) {
        if isOnEventLoop {
            handler.writeCall(number, from: caller, isLong: isLong, line)
        } else {
            let contents = Self.contents(line)
            eventLoop.execute {
                self.handler.writeCall(number, from: caller, isLong: isLong) { $0.append(contents) }
            }
        }
    }

    func writeCancel(ofCall number: Int, _ line: (OutputBuffer) -> Void) {
        let contents = Self.contents(line)
        onEventLoop { $0.writeCancel(ofCall: number) { $0.append(contents) } }
    }

    private static func contents(_ line: (OutputBuffer) -> Void) -> OutputBuffer.Contents {
        let buffer = OutputBuffer()
        line(buffer)
        return buffer.take()
    }

    func send(_ event: Event, form: WireForm) { onEventLoop { $0.send(event, form: form) } }

    func finish() {
        // After the lines that other threads have queued, even if this is the event loop.
        eventLoop.execute { self.handler.closeWhenFlushed() }
    }

    /// Closes the connection when its last replies are sent, or after this time.
    func finish(within time: TimeAmount) {
        eventLoop.execute { self.handler.finish(within: time) }
    }

    /// Ends the running calls with an error; their replies are still sent.
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
