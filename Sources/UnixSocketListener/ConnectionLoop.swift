import NIOCore
import NIOPosix

/// The event loop that all connections live on.
///
/// One thread: command objects never block it, and it keeps a small device's other cores free for them.
public final class ConnectionLoop: Sendable {
    let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)

    public init() {}

    /// Runs `body` on the loop again and again, until the loop ends. It runs only while the loop is alive.
    public func repeatEvery(_ interval: Duration, _ body: @escaping @Sendable () -> Void) {
        let time = TimeAmount(interval)
        group.next().scheduleRepeatedTask(initialDelay: .zero, delay: time) { _ in body() }
    }

    public func close() async { try? await group.shutdownGracefully() }
}
