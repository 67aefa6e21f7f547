import Accepting
import Concurrency
import Fairness
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
    private var limits: Limits { router.frontController.limits }
    private let giveBackMemory: @Sendable () -> Void
    private let waitingCalls: WaitingCalls
    private let logger: Logger
    private let userNames: UserNames
    private let state = Mutex(State())

    private struct OpenConnection {
        let output: SocketOutput
        let connection: Connection
        /// Whose place it has.
        let peer: Owner
        /// The name of the socket, if it has its own list.
        let socket: String?
        /// Whether it is being closed for a newcomer.
        var isLeaving = false
    }

    private struct State {
        var connections: [ObjectIdentifier: OpenConnection] = [:]
        /// The places of each socket with its own list; those of other sockets are under nil.
        var places: [String?: ConnectionPlaces] = [:]
        /// How many connections are being closed for newcomers, who have their places already.
        var leaving = 0
        var (refusals, shortages) = (RefusalNews(), RefusalNews())
    }

    /// - Parameters:
    ///   - userName: the name of a user of this device; nil if it has none. May block.
    ///   - makeEndpoints: called when the service runs, so that who can connect finds signals handled already.
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
            .childChannelOption(.maxMessagesPerRead, value: 1)
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
        if let refusal = rule?.refusal(ofConnectionBy: caller) { return refuse(channel, refusal, "\(caller)", rule) }
        if let refusal = takePlace(for: caller, rule) { return refuse(channel, refusal, "\(caller)", rule) }
        let process = CallingProcess(of: caller)
        let memory = router.memory
        let limits = limits
        let resources = loop.resources(maximumDepth: limits.depth, memory: memory, trim: giveBackMemory)
        let handler = ConnectionHandler(limits: limits, logger: logger, resources: resources) { output in
            let connection = Connection(caller: caller, self.router, output: output, socketRule: rule, process: process)
            self.count(
                OpenConnection(output: output, connection: connection, peer: caller.owner, socket: rule?.name)
            )
            return connection
        }
        try channel.pipeline.syncOperations.addHandler(handler)
    }

    /// Looks for a place for a newcomer, for which an idle connection may have to go. On the event loop.
    /// - Returns: `overloaded` if there is none.
    private func takePlace(for caller: Caller, _ rule: SocketRule?) -> CommandError? {
        let limit = rule?.connections ?? limits.connections
        // Behind a gateway's uid are all its users; it gives each a share itself.
        let share = rule?.gateway == nil ? router.memory.share(of: caller) : .whole
        let verdict = state.withLock { state in
            state.places[rule?.name, default: ConnectionPlaces(limit: limit)].limit = limit
            return state.places[rule?.name]?.verdict(on: caller.owner, share) ?? .refused
        }
        switch verdict {
        case .taken: return nil
        case .refused: return CommandError(.overloaded, "\(limit) connections are open; close one and try again")
        case .takenIfFreed(let peer):
            if closeIdle(of: peer, on: rule?.name) { return nil }
            let what = peer == caller.owner ? "this user has its share of the \(limit)" : "\(limit)"
            return CommandError(.overloaded, "\(what) connections, and none of them is idle; close one and try again")
        }
    }

    private static let maxLeaving = 32

    /// Closes the connection of a peer that has been idle for longest.
    private func closeIdle(of peer: Owner, on socket: String?) -> Bool {
        let candidates = state.withLock { state in
            state.connections.values.filter { $0.peer == peer && $0.socket == socket && !$0.isLeaving }
        }
        let idle = candidates.compactMap { open in open.output.idleSince.map { (open, $0) } }
        guard let (oldest, _) = idle.min(by: { $0.1 < $1.1 }) else { return false }
        let isLeaving = state.withLock { state in
            guard state.leaving < Self.maxLeaving else { return false }
            state.leaving += 1
            state.connections[ObjectIdentifier(oldest.output)]?.isLeaving = true
            state.places[socket]?.remove(peer)
            return true
        }
        guard isLeaving else { return false }
        oldest.output.refuse(
            CommandError(.overloaded, "closed because it was idle, and its user opened more connections than its share")
        )
        return true
    }

    private func count(_ open: OpenConnection) {
        let output = open.output
        let id = ObjectIdentifier(output)
        state.withLock { state in
            state.connections[id] = open
            state.places[open.socket]?.add(open.peer)
        }
        connectionsChanged()
        output.closeFuture.whenComplete { _ in
            self.state.withLock { state in
                if state.connections.removeValue(forKey: id)?.isLeaving ?? false {
                    state.leaving -= 1
                } else {
                    state.places[open.socket]?.remove(open.peer)
                }
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

    /// Waits until no call waits any more, or until the time is over.
    private func drain(within time: Duration) async {
        await withTaskGroup(of: Void.self) { group in
            let end = Promise<Void>()
            AlarmThread.shared.ring(after: time) { end.fulfil(()) }
            group.addTask { await self.waitingCalls.drained() }
            group.addTask { _ = try? await end.value() }
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
