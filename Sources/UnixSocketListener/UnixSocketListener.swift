import Accepting
internal import Glibc
import JSON
public import Linux
public import Logging
import NIOCore
import NIOPosix
public import QuickConnect
public import ServiceLifecycle
import Synchronization

/// Accepts connections on Unix sockets, and makes each a connection of the router.
public final class UnixSocketListener: Service {
    /// A socket, and the rule for it.
    public struct Endpoint: Sendable {
        public var socket: ListeningSocket
        /// Nil: every command.
        public var rule: SocketRule?

        public init(_ socket: ListeningSocket, _ rule: SocketRule? = nil) {
            self.socket = socket
            self.rule = rule
        }
    }

    private let loop: ConnectionLoop
    private let makeEndpoints: @Sendable () throws -> [Endpoint]
    private let isListening: @Sendable () -> Void
    private let connectionsChanged: @Sendable () -> Void
    private let router: Router
    private let limits: Limits
    private let giveBackMemory: @Sendable () -> Void
    private let waitingCalls: WaitingCalls
    private let logger: Logger
    private let userNames: UserNames
    private let state = Mutex(State())

    private struct OpenConnection {
        let output: SocketOutput
        let connection: Connection
    }

    private struct State {
        var connections: [ObjectIdentifier: OpenConnection] = [:]
        /// The connections of each socket with its own list; those of other sockets are counted under nil.
        var counts: [String?: Int] = [:]
        var (refusals, shortages) = (RefusalNews(), RefusalNews())
    }

    /// - Parameters:
    ///   - userName: the name of a user of this device; nil if it has none. May block.
    ///   - makeEndpoints: called when the service runs, so that who can connect finds signals heeded already.
    ///   - isListening: called when connections are taken.
    ///   - giveBackMemory: called some time after a large message, on a thread that may block.
    ///   - connectionsChanged: called when one more or one less is open. Must not block.
    public init(
        loop: ConnectionLoop,
        router: Router,
        waitingCalls: WaitingCalls,
        logger: Logger,
        userName: @escaping @Sendable (UInt32) -> String? = { _ in nil },
        makeEndpoints: @escaping @Sendable () throws -> [Endpoint],
        isListening: @escaping @Sendable () -> Void,
        connectionsChanged: @escaping @Sendable () -> Void = {},
        giveBackMemory: @escaping @Sendable () -> Void = {}
    ) {
        self.connectionsChanged = connectionsChanged
        self.loop = loop
        self.isListening = isListening
        self.router = router
        limits = router.frontController.limits
        self.giveBackMemory = giveBackMemory
        self.waitingCalls = waitingCalls
        self.logger = logger
        userNames = UserNames(userName)
        self.makeEndpoints = makeEndpoints
    }

    /// Listens until the service is asked to stop, then gives the running calls their time and closes.
    public func run() async throws {
        let endpoints = try makeEndpoints()
        var servers: [any Channel] = []
        for endpoint in endpoints {
            servers.append(try await bootstrap(endpoint.rule).withBoundSocket(endpoint.socket.descriptor).get())
            let commands = endpoint.rule.map { ", for \($0.commands.count) commands" } ?? ""
            logger.info("listening on \(endpoint.socket.name)\(commands)")
        }
        isListening()
        try await withGracefulShutdownHandler { [servers] in
            for server in servers { try await server.closeFuture.get() }
        } onGracefulShutdown: { [servers] in
            for server in servers { server.close(promise: nil) }
        }
        for endpoint in endpoints { endpoint.socket.unlink() }
        await finishCalls()
        try await closeConnections()
    }

    private func bootstrap(_ rule: SocketRule?) -> ServerBootstrap {
        ServerBootstrap(group: loop.group)
            .serverChannelOption(.backlog, value: SOMAXCONN)
            .serverChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture { try self.watch(channel) }
            }
            .childChannelOption(.allowRemoteHalfClosure, value: true)
            .childChannelOption(.recvAllocator, value: Self.receiveSizes)
            .childChannelInitializer { channel in
                self.accept(channel, rule)
            }
    }

    /// How much a connection receives at once: little at first, because an idle connection keeps the memory; doubled
    /// with each full buffer.
    private static let receiveSizes = AdaptiveRecvByteBufferAllocator(minimum: 64, initial: 256, maximum: 64 << 10)

    /// How many connections are open.
    public var connectionCount: Int { state.withLock { $0.connections.count } }

    /// On the event loop of a listening channel.
    private func watch(_ channel: any Channel) throws {
        let pause = AcceptPause { reason in
            guard self.state.withLock({ $0.shortages.take() }) else { return }
            self.logger.warning("connections wait until they can be taken: \(reason)")
        }
        try channel.pipeline.syncOperations.addHandler(pause, position: .first)
    }

    // MARK: Connections

    /// On the connection's event loop.
    private func accept(_ channel: any Channel, _ rule: SocketRule?) -> EventLoopFuture<Void> {
        let loop = channel.eventLoop
        do {
            let caller = try channel.pipeline.syncOperations.withUnsafeTransportIfAvailable(of: CInt.self) {
                try Caller(peerOf: $0)
            }
            guard let caller, let uid = caller.uid else { throw ChannelError.operationUnsupported }
            return userNames.name(of: uid, on: loop).flatMapThrowing { name in
                try self.serve(channel, Caller(caller.origin, userName: name), rule)
            }
        } catch {
            return loop.makeFailedFuture(error)
        }
    }

    private func serve(_ channel: any Channel, _ caller: Caller, _ rule: SocketRule?) throws {
        let limit = rule?.connections ?? limits.connections
        if let refusal = rule?.refusal(ofConnectionBy: caller) { return refuse(channel, refusal, "\(caller)", rule) }
        guard state.withLock({ $0.counts[rule?.name, default: 0] }) < limit else {
            let error = CommandError(.overloaded, "\(limit) connections are open; close one and try again")
            return refuse(channel, error, "\(limit) are open", rule)
        }
        let process = CallingProcess(of: caller)
        let resources = loop.resources(maximumDepth: limits.depth, isIdle: giveBackMemory)
        let handler = ConnectionHandler(limits: limits, logger: logger, resources: resources) { output in
            let connection = Connection(caller: caller, self.router, output: output, socketRule: rule, process: process)
            self.count(OpenConnection(output: output, connection: connection), rule)
            return connection
        }
        try channel.pipeline.syncOperations.addHandler(handler)
    }

    private func count(_ connection: OpenConnection, _ rule: SocketRule?) {
        let output = connection.output
        let id = ObjectIdentifier(output)
        state.withLock { state in
            state.connections[id] = connection
            state.counts[rule?.name, default: 0] += 1
        }
        connectionsChanged()
        output.closeFuture.whenComplete { _ in
            self.state.withLock { state in
                state.connections[id] = nil
                state.counts[rule?.name, default: 0] -= 1
            }
            self.connectionsChanged()
        }
    }

    private func refuse(_ channel: any Channel, _ error: CommandError, _ reason: String, _ rule: SocketRule?) {
        let place = rule.map { " on \($0.name)" } ?? ""
        if state.withLock({ $0.refusals.take() }) { logger.warning("refused a connection\(place): \(reason)") }
        let line = OutputBuffer()
        line.appendError(error, command: nil, id: nil, form: .url)
        channel.writeAndFlush(ByteBuffer(bytes: line.copy)).whenComplete { _ in channel.close(promise: nil) }
    }

    // MARK: The end

    /// Lets the running calls finish within the time of the limits, then ends them with `cancelled`.
    private func finishCalls() async {
        waitingCalls.finish()
        await drain(within: .seconds(limits.shutdownSeconds))
        let error = CommandError(.cancelled, "the daemon is stopping")
        for output in outputs { output.interruptCalls(with: error) }
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

    /// Closes each connection when its last replies are sent, without waiting for clients that do not read.
    private func closeConnections() async throws {
        let outputs = outputs
        for output in outputs { output.finish(within: Self.flushTime) }
        for output in outputs { try await output.closeFuture.get() }
    }

    private static let lastReplyTime = Duration.milliseconds(500)
    private static let flushTime = TimeAmount.milliseconds(500)

    private var outputs: [SocketOutput] { state.withLock { $0.connections.values.map(\.output) } }
}

extension UnixSocketListener: ConnectionKeeper {
    public var openConnections: [any CallConnection] { state.withLock { $0.connections.values.map(\.connection) } }
}
