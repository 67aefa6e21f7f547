internal import Glibc
import NIOCore
import NIOPosix
import QuickConnect

/// The event loop of all connections.
///
/// It has one thread: command objects never block it, and on a small device the other cores stay free for them.
public final class ConnectionLoop: Sendable {
    let group: MultiThreadedEventLoopGroup
    private let polls = Polls()
    /// Reads long lines; its thread starts with the first.
    private let longLines = NIOThreadPool(numberOfThreads: 1)
    private let shared: NIOLoopBoundBox<LoopResources?>

    public init() {
        group = MultiThreadedEventLoopGroup(numberOfThreads: 1, metricsDelegate: polls)
        shared = NIOLoopBoundBox.makeEmptyBox(eventLoop: group.next())
    }

    /// Runs `body` on the loop repeatedly, until the loop ends.
    public func repeatEvery(_ interval: Duration, _ body: @escaping @Sendable () -> Void) {
        let time = TimeAmount(interval)
        group.next().scheduleRepeatedTask(initialDelay: .zero, delay: time) { _ in body() }
    }

    /// What the connections share. For use on the loop only.
    func resources(maximumDepth: Int, memory: PeerMemory, trim: @escaping @Sendable () -> Void) -> LoopResources {
        if let resources = shared.value { return resources }
        longLines.start()
        let resources = LoopResources(
            maximumDepth: maximumDepth,
            memory: memory,
            polls: polls,
            thread: pthread_self(),
            longLines: longLines,
            trim: trim
        )
        shared.value = resources
        return resources
    }

    public func close() async {
        try? await longLines.shutdownGracefully()
        try? await group.shutdownGracefully()
    }
}
