import JSON
import QuickConnect
import Runtime

/// One client's connection, writable from any thread.
final class SocketOutput: ConnectionOutput {
    private let loop: Loop
    // Used on the loop only, which each use below has checked.
    nonisolated(unsafe) private let handler: ConnectionHandler

    init(_ handler: ConnectionHandler) {
        loop = handler.loop
        self.handler = handler
    }

    /// Since when it has been idle, in nanoseconds of the loop's clock; nil if it is not. On the loop only.
    var idleSince: UInt64? { handler.isIdle ? handler.lastReceived.nanoseconds : nil }

    /// Tells its client why, and closes.
    func refuse(_ error: CommandError) { onLoop { $0.refuse(error) } }

    func write(_ line: (OutputBuffer) -> Void) {
        if loop.isCurrent {
            handler.write(line)
        } else {
            let contents = Self.contents(line)
            loop.execute { self.handler.write { $0.append(contents) } }
        }
    }

    func writeCall(_ number: Int, from caller: Caller, isLong: Bool, _ line: (OutputBuffer) -> Void) {
        if loop.isCurrent {
            handler.writeCall(number, from: caller, isLong: isLong, line)
        } else {
            let contents = Self.contents(line)
            loop.execute {
                self.handler.writeCall(number, from: caller, isLong: isLong) { $0.append(contents) }
            }
        }
    }

    func writeCancel(ofCall number: Int, _ line: (OutputBuffer) -> Void) {
        let contents = Self.contents(line)
        onLoop { $0.writeCancel(ofCall: number) { $0.append(contents) } }
    }

    private static func contents(_ line: (OutputBuffer) -> Void) -> OutputBuffer.Contents {
        let buffer = OutputBuffer()
        line(buffer)
        return buffer.take()
    }

    func send(_ event: Event, form: WireForm) { onLoop { $0.send(event, form: form) } }

    func finish() {
        // After the lines that other threads have queued, even if this is the loop.
        loop.execute { self.handler.closeWhenFlushed() }
    }

    /// Closes the connection when its last replies are sent, or after this time.
    func finish(within time: LoopSpan) {
        loop.execute { self.handler.finish(within: time) }
    }

    /// Ends the running calls with an error; their replies are still sent.
    func interruptCalls(with error: CommandError) {
        onLoop { $0.connection?.interruptCalls(with: error) }
    }

    private func onLoop(_ body: @escaping @Sendable (ConnectionHandler) -> Void) {
        if loop.isCurrent {
            body(handler)
        } else {
            loop.execute { body(self.handler) }
        }
    }
}
