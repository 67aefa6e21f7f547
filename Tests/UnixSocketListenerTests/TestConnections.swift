import Concurrency
import JSON
import Logging
import NIOCore
import NIOEmbedded
import NIOPosix
import QuickConnect
import TestRig
import Testing

@testable import UnixSocketListener

private struct EchoBCO: BCO {
    func handle(_ call: borrowing Call) throws(CommandError) -> BusinessOutcome {
        .result(call.argument(0), under: nil)
    }
}

private struct PostBCO: BCO {
    let events: EventHub

    func handle(_ call: borrowing Call) throws(CommandError) -> BusinessOutcome {
        events.publish(Event(call.string(0) ?? "", call.argument(1), kind: .message))
        return .proceed
    }
}

private struct NoAccounts: Accounts {
    func uid(ofUser name: String) -> UInt32? { nil }
    func gid(ofGroup name: String) -> UInt32? { nil }
}

/// Connections on one event loop that runs when the test says so. They know `echo`, `post` and `ping`.
final class TestConnections: Sendable {
    let router: Router
    let loop = NIOAsyncTestingEventLoop()
    private let longLines = NIOThreadPool(numberOfThreads: 1)
    private let resources: NIOLoopBoundBox<LoopResources?>

    init(limits: Limits) throws {
        let place = SourceLocation(file: "test.yaml", line: 1, column: 1)
        var builder = MappingTableBuilder()
        let commands: [(String, Phase, [String])] = [
            ("echo", .business, ["EchoBCO"]), ("post", .business, ["PostBCO"]), ("ping", .view, []),
        ]
        for (command, phase, objects) in commands {
            var declaration = MappingDeclaration(Located(command, at: place))
            declaration.phases[phase] = objects.map { Located($0, at: place) }
            builder.add(declaration)
        }
        let rule = AllowRule(userNames: ["ann"], groupNames: [], users: [1000], groups: [], location: place)
        let permissions = Permissions(ownUID: 0, handlerCommands: rule)
        let events = EventHub(limits: limits)
        let handlers = HandlerRegistry(permissions: permissions, events: events, limits: limits)
        let (table, _) = try builder.build(
            catalog: ["EchoBCO": EchoBCO(), "PostBCO": PostBCO(events: events)],
            scripts: { HandlerCommandObject($0, handlers: handlers) },
            values: { name, _ in ValueCommandObject(name, ValueStore(EventHub(limits: Limits()))) },
            accounts: NoAccounts()
        )
        let controller = FrontController(
            table: table,
            handlers: handlers,
            permissions: permissions,
            limits: limits,
            waitingCalls: WaitingCalls(clock: AlarmThread.shared)
        )
        router = Router(controller, handlers, events)
        longLines.start()
        resources = NIOLoopBoundBox.makeEmptyBox(eventLoop: loop)
    }

    /// A connection of a user, root as a rule.
    func connect(as uid: UInt32 = 0) async throws -> TestPeer {
        let channel = NIOAsyncTestingChannel(loop: loop)
        let transport = SlowTransport()
        try await loop.executeInContext { [self] in
            let limits = router.frontController.limits
            let shared =
                resources.value
                ?? LoopResources(
                    maximumDepth: limits.depth,
                    memory: router.memory,
                    longLines: longLines,
                    trim: {}
                )
            resources.value = shared
            let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
            let handler = ConnectionHandler(limits: limits, logger: logger, resources: shared) { output in
                Connection(caller: Caller(.peer(uid: uid, pid: 1, groups: [])), self.router, output: output)
            }
            try channel.pipeline.syncOperations.addHandlers([transport, handler])
        }
        return TestPeer(channel: channel, transport: transport)
    }

    func close() async throws { try await longLines.shutdownGracefully() }
}

/// Runs a test with connections, and ends their thread.
func withConnections(limits: Limits = Limits(), _ test: (TestConnections) async throws -> Void) async throws {
    let connections = try TestConnections(limits: limits)
    do {
        try await test(connections)
    } catch {
        try await connections.close()
        throw error
    }
    try await connections.close()
}

/// A transport that takes writes only while its client reads.
final class SlowTransport: ChannelOutboundHandler, @unchecked Sendable {
    // Sendable because all of it is touched on the event loop only.
    typealias OutboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    var isReading = true
    private var waiting: [(data: NIOAny, promise: EventLoopPromise<Void>?)] = []
    private var context: ChannelHandlerContext?
    /// How often the connection has asked for more input.
    private(set) var reads = 0

    func handlerAdded(context: ChannelHandlerContext) { self.context = context }

    func read(context: ChannelHandlerContext) {
        reads += 1
        context.read()
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        waiting.append((data, promise))
    }

    func flush(context: ChannelHandlerContext) {
        guard isReading else { return }
        while !waiting.isEmpty { takeOne() }
    }

    /// Lets the client read on, now.
    func resume() {
        isReading = true
        while !waiting.isEmpty { takeOne() }
    }

    /// Lets the client read one piece. That may lead to more, behind the others.
    func takeOne() {
        guard !waiting.isEmpty else { return }
        let next = waiting.removeFirst()
        context?.writeAndFlush(next.data, promise: next.promise)
    }
}

/// The client's end of a connection.
struct TestPeer {
    let channel: NIOAsyncTestingChannel
    let transport: SlowTransport

    func send(_ text: String) async throws { try await channel.writeInbound(ByteBuffer(string: text)) }

    func endInput() async throws {
        try await channel.testingEventLoop.executeInContext {
            channel.pipeline.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
        }
    }

    func setReading(_ isReading: Bool) async throws {
        try await channel.testingEventLoop.executeInContext {
            if isReading { transport.resume() } else { transport.isReading = false }
        }
    }

    /// The client reads on, which is found out with the next bytes for it.
    func readWithNextBytes() async throws {
        try await channel.testingEventLoop.executeInContext { transport.isReading = true }
    }

    /// Lets a client that does not read take one piece.
    func readOne() async throws { try await channel.testingEventLoop.executeInContext { transport.takeOne() } }

    var connection: Connection {
        get async throws {
            try await channel.testingEventLoop.executeInContext {
                try #require(channel.pipeline.syncOperations.handler(type: ConnectionHandler.self).connection)
            }
        }
    }

    /// What has been sent to the client and not been taken yet, without running the loop.
    func take() async throws -> String {
        var bytes: [UInt8] = []
        while let piece = try await channel.readOutbound(as: ByteBuffer.self) { bytes += piece.readableBytesView }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// So many lines, while the loop runs.
    func lines(_ count: Int) async throws -> [String] {
        var text = ""
        var found = 0
        try await eventually("\(count) lines") {
            await channel.testingEventLoop.advanceTime(by: .milliseconds(1))
            let more = try await take()
            found += more.utf8.count { $0 == 0x0A }
            text += more
            return found >= count
        }
        await channel.testingEventLoop.advanceTime(by: .milliseconds(1))
        text += try await take()
        return text.split(separator: "\n").map(String.init)
    }
}
