public import Logging
import NIOCore
import NIOPosix
public import QuickConnect
public import ServiceLifecycle
import Synchronization

/// Takes connections on a Unix socket, each a session of the front controller.
public final class UnixSocketListener: Service {
    private let makeSocket: @Sendable () throws -> ListeningSocket
    private let frontController: FrontController
    private let waitingCalls: WaitingCalls
    private let logger: Logger
    private let connections = Mutex<[ObjectIdentifier: Connection]>([:])

    /// - Parameter makeSocket: called when the service runs, so that who can connect finds signals heeded already.
    public init(
        frontController: FrontController,
        waitingCalls: WaitingCalls,
        logger: Logger,
        makeSocket: @escaping @Sendable () throws -> ListeningSocket
    ) {
        self.frontController = frontController
        self.waitingCalls = waitingCalls
        self.logger = logger
        self.makeSocket = makeSocket
    }

    /// Listens until the service is asked to stop, then gives the calls under way their time and closes.
    public func run() async throws {
        let socket = try makeSocket()
        // One loop: command objects never block it, and it keeps a small device's other cores free for them.
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let server = try await bootstrap(group).withBoundSocket(socket.descriptor).get()
        logger.info("listening on \(socket.path ?? "the socket that systemd passed")")
        try await withGracefulShutdownHandler {
            try await server.closeFuture.get()
        } onGracefulShutdown: {
            server.close(promise: nil)
        }
        socket.unlink()
        await finishCalls()
        try await closeConnections()
        try await group.shutdownGracefully()
    }

    private func bootstrap(_ group: MultiThreadedEventLoopGroup) -> ServerBootstrap {
        ServerBootstrap(group: group)
            .childChannelOption(.allowRemoteHalfClosure, value: true)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture { try self.accept(channel) }
            }
    }

    // MARK: Connections

    /// On the connection's event loop.
    private func accept(_ channel: any Channel) throws {
        guard connections.withLock({ $0.count }) < frontController.limits.connections else {
            return refuse(channel)
        }
        let caller = try channel.pipeline.syncOperations.withUnsafeTransportIfAvailable(of: CInt.self) {
            try Caller(peerOf: $0)
        }
        guard let caller else { throw ChannelError.operationUnsupported }
        let handler = ConnectionHandler(limits: frontController.limits, logger: logger) { connection in
            let id = ObjectIdentifier(connection)
            self.connections.withLock { $0[id] = connection }
            connection.closeFuture.whenComplete { _ in self.connections.withLock { $0[id] = nil } }
            return Session(caller: caller, frontController: self.frontController, output: connection)
        }
        try channel.pipeline.syncOperations.addHandler(handler)
    }

    private func refuse(_ channel: any Channel) {
        let limit = frontController.limits.connections
        logger.warning("refused a connection: \(limit) are open")
        let error = CommandError(.overloaded, "\(limit) connections are open; close one and try again")
        var line: [UInt8] = []
        OutgoingMessage.reply(Reply(error: error, form: .url)).write(to: &line)
        channel.writeAndFlush(ByteBuffer(bytes: line)).whenComplete { _ in channel.close(promise: nil) }
    }

    // MARK: The end

    /// Lets the calls under way finish in the time the limits give, then ends them with `cancelled`.
    private func finishCalls() async {
        waitingCalls.finish()
        await drain(within: .seconds(frontController.limits.shutdownSeconds))
        let error = CommandError(.cancelled, "the daemon is stopping")
        for connection in openConnections { connection.interruptCalls(with: error) }
        await drain(within: Self.lastReplyTime)
    }

    private func drain(within time: Duration) async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await self.waitingCalls.drained() }
            group.addTask { try? await Task.sleep(for: time) }
            await group.next()
            group.cancelAll()
        }
    }

    /// Closes each connection when its last replies are out; who does not read them is not waited for.
    private func closeConnections() async throws {
        let connections = openConnections
        for connection in connections { connection.finish(within: Self.flushTime) }
        for connection in connections { try await connection.closeFuture.get() }
    }

    private static let lastReplyTime = Duration.milliseconds(500)
    private static let flushTime = TimeAmount.milliseconds(500)

    private var openConnections: [Connection] { connections.withLock { Array($0.values) } }
}
