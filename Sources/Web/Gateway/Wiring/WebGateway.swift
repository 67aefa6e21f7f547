internal import CLinux
package import Linux
internal import NIOCore
internal import NIOPosix

/// Pages in any browser: HTTP and WebSocket on one side, the daemon on the other.
///
/// Everything runs on one event loop, except files and large bodies, which have threads of their own.
package final class WebGateway: Sendable {
    private let options: WebOptions
    private let log: ServiceLog
    private let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    /// For users and sessions: writing them may take long.
    private let disk = NIOThreadPool(numberOfThreads: 1)
    private let files = NIOThreadPool(numberOfThreads: 1)
    private let parser = NIOThreadPool(numberOfThreads: 1)
    private let loopState: NIOLoopBoundBox<LoopState?>

    /// The objects that are used on the loop.
    private struct LoopState {
        var bridges: Bridges
        var control: WebControl
        var doorkeeper: Authenticator
        var listeners: [any Channel] = []
        var entrance: WebListener
        var watcher: PageWatcher?
    }

    /// A gateway that is not listening yet.
    package init(_ options: WebOptions, log: ServiceLog) {
        self.options = options
        self.log = log
        loopState = NIOLoopBoundBox.makeEmptyBox(eventLoop: group.next())
    }

    /// Starts listening.
    /// - Returns: the address of the first listener, for people.
    package func start() throws(PlainError) -> String {
        for pool in [disk, files, parser] { pool.start() }
        do {
            let loop = group.next()
            try loop.submit { try self.make(on: loop) }.wait()
            var addresses: [String] = []
            for listener in options.listeners {
                let channel = try open(listener, on: loop)
                addresses.append(Self.address(of: channel))
                try loop.submit { self.loopState.value?.listeners.append(channel) }.wait()
            }
            let address = options.address ?? addresses.first ?? ""
            try loop.submit {
                self.loopState.value?.entrance.address = address
                self.loopState.value?.control.start(self.options.daemonPaths, on: loop)
            }.wait()
            return address
        } catch {
            throw PlainError("\(error)")
        }
    }

    /// Runs `body` on the loop repeatedly. It stops with the loop.
    package func repeatEvery(_ interval: Duration, _ body: @escaping @Sendable () -> Void) {
        let time = TimeAmount(interval)
        group.next().scheduleRepeatedTask(initialDelay: .zero, delay: time) { _ in body() }
    }

    /// Stops accepting connections, sends close frames to the pages, and waits a little for their answer.
    package func stop() {
        let loop = group.next()
        let done = loop.makePromise(of: Void.self)
        loop.scheduleTask(in: .seconds(6)) { done.succeed() }
        loop.execute {
            guard let loopState = self.loopState.value else { return done.succeed() }
            for listener in loopState.listeners { listener.close(promise: nil) }
            loopState.control.stop()
            loopState.watcher?.stop()
            loopState.doorkeeper.flush().assumeIsolated().whenComplete { _ in
                guard !loopState.bridges.isEmpty else { return done.succeed() }
                loopState.bridges.emptied = { done.succeed() }
                loopState.bridges.closeAll()
            }
        }
        try? done.futureResult.wait()
        try? group.syncShutdownGracefully()
        for pool in [disk, files, parser] { try? pool.syncShutdownGracefully() }
    }

    // MARK: Wiring, on the loop

    private func make(on loop: any EventLoop) throws {
        let log = log
        let bridges = Bridges()
        let doorkeeper = try Authenticator(StateFolder(options.state), disk, loop, lifetime: options.sessionTime) {
            log.write($0, .warning)
        }
        let fair = Fairly(
            turns: Turns(loop),
            holdings: Holdings(loop) { [files] in files.submit { _ in qc_trim_memory() } },
            files: FairThread(files, loop, atOnce: 8),
            parser: FairThread(parser, loop)
        )
        let dialer = DaemonDialer(path: options.bridgePath, limit: options.daemonConnections, loop: loop)
        doorkeeper.ended = { keys in
            // The pages first, so that they are told why.
            bridges.close(sessions: Set(keys))
            dialer.close(sessions: Set(keys))
        }
        let site = WebSite(options, doorkeeper: doorkeeper, dialer: dialer, bridges: bridges, fair: fair) {
            log.write($0, .info)
        }
        let entrance = WebListener(site, most: options.connections) { log.write($0, .warning) }
        let state = WebState(doorkeeper: doorkeeper, bridges: bridges, holdings: fair.holdings, entrance: entrance)
        let pages = site.pages
        let control = WebControl(
            doorkeeper,
            bridges,
            address: { entrance.address },
            // No user's: whoever may ask is the device's.
            pagesInstead: { page in fair.files.run(for: .user("")) { pages.instead(of: page) } },
            state: { state.json }
        ) { log.write($0, .warning) }
        loopState.value = LoopState(bridges: bridges, control: control, doorkeeper: doorkeeper, entrance: entrance)
        if options.watches { loopState.value?.watcher = try watcher(bridges, loop) }
    }

    private func watcher(_ bridges: Bridges, _ loop: any EventLoop) throws -> PageWatcher {
        let bound = NIOLoopBound(bridges, eventLoop: loop)
        return try PageWatcher(options.pages) {
            loop.execute { bound.value.sendAll(#"{"handlerName":"pagesChanged","data":null}"#) }
        }
    }

    // MARK: Listening

    private func open(_ listener: WebOptions.Listener, on loop: any EventLoop) throws -> any Channel {
        let bootstrap = bootstrap(on: loop)
        do {
            return switch listener {
            case .tcp(let host, let port): try bootstrap.bind(host: host, port: port).wait()
            case .passed(let descriptor): try bootstrap.withBoundSocket(Self.checked(descriptor)).wait()
            case .unix(let path): try openUnix(path, bootstrap)
            }
        } catch let error as IOError where error.errnoCode == EADDRINUSE {
            throw PlainError("cannot listen on \(Self.words(listener)): \(Self.taken(listener))")
        } catch {
            throw PlainError("cannot listen on \(Self.words(listener)): \(error)")
        }
    }

    /// Everybody who may access the folder may connect, for example a proxy.
    private func openUnix(_ path: String, _ bootstrap: ServerBootstrap) throws -> any Channel {
        let socket = try ListeningSocket.bind(path: path, mode: 0o666)
        let channel = try bootstrap.withBoundSocket(socket.descriptor).wait()
        channel.closeFuture.whenComplete { _ in socket.unlink() }
        return channel
    }

    /// NIO crashes if it is given another kind of descriptor.
    private static func checked(_ descriptor: Int32) throws(SystemCallError) -> Int32 {
        var (isListening, size): (CInt, socklen_t) = (0, socklen_t(MemoryLayout<CInt>.size))
        try SystemCallError.check("getsockopt") {
            getsockopt(descriptor, SOL_SOCKET, SO_ACCEPTCONN, &isListening, &size)
        }
        guard isListening == 1 else { throw SystemCallError("no listening socket", EINVAL) }
        return descriptor
    }

    private static func words(_ listener: WebOptions.Listener) -> String {
        switch listener {
        case .tcp(let host, let port): "\(host), port \(port)"
        case .unix(let path): path
        case .passed(let descriptor): "the socket \(descriptor) that systemd passed"
        }
    }

    /// Who listens where this program wants to, and what mends it.
    private static func taken(_ listener: WebOptions.Listener) -> String {
        guard case .tcp(let host, let port) = listener else { return SystemCallError.text(EADDRINUSE) }
        let holder = PortHolder.listening(on: port).map { "\($0) has that port" } ?? "another program has that port"
        return
            "\(holder). End it, or choose another one: «web: {listen: \"\(host):PORT\"}» in the settings, or --listen"
    }

    private func bootstrap(on loop: any EventLoop) -> ServerBootstrap {
        ServerBootstrap(group: group)
            .serverChannelOption(.backlog, value: SOMAXCONN)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .serverChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture { try self.loopState.value?.entrance.watch(channel) }
            }
            .childChannelOption(.recvAllocator, value: WebListener.receiveSizes)
            // Otherwise each line costs a second read that finds nothing.
            .childChannelOption(.maxMessagesPerRead, value: 1)
            .childChannelOption(.allowRemoteHalfClosure, value: false)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture { try self.loopState.value?.entrance.accept(channel) }
            }
    }

    private static func address(of channel: any Channel) -> String {
        guard let address = channel.localAddress, let port = address.port, let host = address.ipAddress else {
            return "http://localhost"
        }
        // An address for all interfaces includes this host.
        let name = host == "0.0.0.0" || host == "::" ? "localhost" : host.contains(":") ? "[\(host)]" : host
        return "http://\(name):\(port)"
    }
}
