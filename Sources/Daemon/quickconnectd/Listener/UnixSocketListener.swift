import Concurrency
internal import Glibc
import JSON
internal import Linux
internal import Logging
internal import QuickConnect
import Runtime
import Synchronization

/// Accepts connections on Unix sockets, and makes each a connection of the router.
final class UnixSocketListener: Sendable {
    /// A socket, and the rule for it.
    struct Endpoint: Sendable {
        var socket: ListeningSocket
        /// Nil: every command.
        var rule: SocketRule?
    }

    private let loop: Loop
    private let makeEndpoints: @Sendable () throws -> [Endpoint]
    private let isListening: @Sendable () -> Void
    private let connectionsChanged: @Sendable () -> Void
    private let router: Router
    private var limits: Limits { router.frontController.limits }
    private let giveBackMemory: @Sendable () -> Void
    private let waitingCalls: WaitingCalls
    private let logger: Logger
    private let userNames: UserNames
    private let commandLines = CommandLines()
    private let state = Mutex(State())
    private let stopped = Promise<Void>()
    /// Fulfilled when the last connection has closed, once it must.
    private let closed = Promise<Void>()

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
        var (refusals, shortages) = (LineLimit.refusals, LineLimit.refusals)
        var isClosing = false
    }

    /// - Parameters:
    ///   - userName: the name of a user of this device; nil if it has none. May block.
    ///   - makeEndpoints: called when the service runs, so that who can connect finds signals handled already.
    ///   - isListening: called when connections are taken.
    ///   - giveBackMemory: called some time after a large message, on a thread that may block.
    ///   - connectionsChanged: called when one more or one less is open. Must not block.
    init(
        loop: Loop,
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

    /// Ends ``run()``.
    func stop() { stopped.fulfil(()) }

    /// Listens until it is asked to stop, then gives the running calls their time and closes.
    func run() async throws {
        let endpoints = try makeEndpoints()
        let listening = Promise<SystemCallError?>()
        let ports = LoopBound(Ports(), on: loop)
        loop.execute {
            do throws(SystemCallError) {
                try self.listen(endpoints, ports.value)
                listening.fulfil(nil)
            } catch {
                ports.value.close()
                listening.fulfil(error)
            }
        }
        if let error = try await listening.value() { throw error }
        for endpoint in endpoints {
            let commands = endpoint.rule.map { ", for \($0.commands.count) commands" } ?? ""
            logger.info("listening on \(endpoint.socket.name)\(commands)")
        }
        isListening()
        try? await stopped.value()
        loop.execute { ports.value.close() }
        for endpoint in endpoints { endpoint.socket.unlink() }
        await finishCalls()
        await closeConnections()
    }

    /// The sockets that are listened on, on the loop.
    private final class Ports {
        var all: [ListeningPort] = []

        func close() {
            for port in all { port.close() }
            all = []
        }
    }

    /// On the loop.
    private func listen(_ endpoints: [Endpoint], _ ports: Ports) throws(SystemCallError) {
        let resources = LoopResources(
            on: loop,
            maximumDepth: limits.depth,
            memory: router.memory,
            trim: giveBackMemory
        )
        for endpoint in endpoints {
            let port = try ListeningPort(
                endpoint.socket.descriptor,
                on: loop,
                shortage: { reason in
                    guard self.state.withLock({ $0.shortages.takes() }) else { return }
                    self.logger.warning("connections wait until they can be taken: \(reason)")
                },
                accept: { self.accept($0, endpoint.rule, resources) }
            )
            ports.all.append(port)
        }
    }

    /// How many connections are open.
    var connectionCount: Int { state.withLock { $0.connections.count } }

    // MARK: Connections

    /// A client has come. On the loop.
    private func accept(_ descriptor: Int32, _ rule: SocketRule?, _ resources: LoopResources) {
        let caller: Caller
        do throws(SystemCallError) { caller = try Caller(peerOf: descriptor) } catch {
            logger.debug("a connection is not taken: \(error)")
            close(descriptor)
            return
        }
        guard let uid = caller.uid else { return _ = close(descriptor) }
        userNames.find(uid, on: loop) { name in
            self.serve(descriptor, Caller(caller.origin, userName: name), rule, resources)
        }
    }

    private func serve(_ descriptor: Int32, _ caller: Caller, _ rule: SocketRule?, _ resources: LoopResources) {
        if let refusal = rule?.refusal(ofConnectionBy: caller) ?? takePlace(for: caller, rule) {
            return refuse(descriptor, refusal, caller, rule)
        }
        let handler = ConnectionHandler(descriptor, limits: limits, logger: logger, resources: resources)
        let output = SocketOutput(handler)
        let process = CallingProcess(of: caller, commandLines)
        let connection = Connection(caller: caller, router, output: output, socketRule: rule, process: process)
        count(OpenConnection(output: output, connection: connection, peer: caller.owner, socket: rule?.name))
        handler.begin(connection) { self.forget(output, of: caller.owner, rule?.name) }
        // Its name may have been looked up while the others were asked to end.
        if state.withLock({ $0.isClosing }) { output.finish(within: Self.flushTime) }
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
        state.withLock { state in
            state.connections[ObjectIdentifier(open.output)] = open
            state.places[open.socket]?.add(open.peer)
        }
        connectionsChanged()
    }

    private func forget(_ output: SocketOutput, of peer: Owner, _ socket: String?) {
        let isLast = state.withLock { state in
            if state.connections.removeValue(forKey: ObjectIdentifier(output))?.isLeaving ?? false {
                state.leaving -= 1
            } else {
                state.places[socket]?.remove(peer)
            }
            return state.isClosing && state.connections.isEmpty
        }
        connectionsChanged()
        if isLast { closed.fulfil(()) }
    }

    private func refuse(_ descriptor: Int32, _ error: CommandError, _ caller: Caller, _ rule: SocketRule?) {
        let place = rule.map { " on \($0.name)" } ?? ""
        if state.withLock({ $0.refusals.takes() }) { logger.warning("refused a connection\(place): \(caller)") }
        let line = OutputBuffer()
        line.appendError(error, command: nil, id: nil, form: .url)
        let channel = SocketChannel(descriptor, on: loop)
        line.withBytes { _ = channel.write(UnsafeRawBufferPointer($0)) }
        channel.skipInput()
        channel.close()
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
    private func closeConnections() async {
        let isEmpty = state.withLock { state in
            state.isClosing = true
            return state.connections.isEmpty
        }
        for output in outputs { output.finish(within: Self.flushTime) }
        if !isEmpty { try? await closed.value() }
        // Drops what gone clients have left: each of their calls gives the loop a job, and it ends when it has none.
        loop.execute { self.loop.turn = { false } }
    }

    private static let lastReplyTime = Duration.milliseconds(500)
    private static let flushTime = LoopSpan.milliseconds(500)

    private var outputs: [SocketOutput] { state.withLock { $0.connections.values.map(\.output) } }
}

extension UnixSocketListener: ConnectionKeeper {
    var openConnections: [any CallConnection] { state.withLock { $0.connections.values.map(\.connection) } }
}
