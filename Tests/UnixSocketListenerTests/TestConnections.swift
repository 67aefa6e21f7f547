import Concurrency
import Glibc
import JSON
import Logging
import QuickConnect
import Runtime
import TestRig
import Testing

@testable import quickconnectd

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

/// Connections on one loop that goes around when the test says so. They know `echo`, `post` and `ping`.
final class TestConnections {
    let router: Router
    let loop: Loop
    private let resources: LoopResources
    private var peers: [TestPeer] = []

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
            declared: { name, _ in ValueCommandObject(name, ValueStore(EventHub(limits: Limits()))) },
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
        loop = try Loop()
        resources = LoopResources(on: loop, maximumDepth: limits.depth, memory: router.memory, trim: {})
    }

    /// A connection of a user, root as a rule.
    func connect(as uid: UInt32 = 0) throws -> TestPeer {
        var ends: [Int32] = [-1, -1]
        let type = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
        try #require(socketpair(AF_UNIX, type, 0, &ends) == 0)
        // So that little is on its way to a client that does not read.
        var size: Int32 = 4 << 10
        setsockopt(ends[0], SOL_SOCKET, SO_SNDBUF, &size, socklen_t(MemoryLayout.size(ofValue: size)))
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        let handler = ConnectionHandler(
            ends[0],
            limits: router.frontController.limits,
            logger: logger,
            resources: resources
        )
        let caller = Caller(.peer(uid: uid, pid: 1, groups: []))
        let connection = Connection(caller: caller, router, output: SocketOutput(handler))
        handler.begin(connection) {}
        let peer = TestPeer(ends[1], connection, self)
        peers.append(peer)
        return peer
    }

    /// Goes around once. What clients could not send yet follows.
    func step() {
        for peer in peers { peer.sendMore() }
        _ = loop.runOnce(waits: false)
    }

    /// Goes around until nobody has anything to do. What other threads do is not awaited.
    func settle() {
        var idle = 0
        while idle < 3 {
            for peer in peers { peer.sendMore() }
            idle = loop.runOnce(waits: false) ? 0 : idle + 1
        }
    }

    /// Lets time pass for the deadlines.
    func advance(by time: LoopSpan) {
        settle()
        loop.lead = loop.lead + time
        settle()
    }
}

/// Runs a test with connections.
func withConnections(limits: Limits = Limits(), _ test: (TestConnections) async throws -> Void) async throws {
    let connections = try TestConnections(limits: limits)
    try await test(connections)
    // What the loop still has holds the connections.
    connections.loop.stop()
    connections.loop.run()
}

/// The client's end of a connection. It reads only when the test says so.
final class TestPeer {
    let connection: Connection
    private let descriptor: Int32
    private unowned let connections: TestConnections
    private var unsent: ArraySlice<UInt8> = []
    private var isOpen = true

    init(_ descriptor: Int32, _ connection: Connection, _ connections: TestConnections) {
        self.descriptor = descriptor
        self.connection = connection
        self.connections = connections
    }

    deinit { close() }

    func close() {
        if isOpen { Glibc.close(descriptor) }
        isOpen = false
    }

    /// Sends as much as there is room for; the rest follows while the loop goes around.
    func send(_ text: String) {
        unsent += Array(text.utf8)
        sendMore()
    }

    func sendMore() {
        while isOpen, !unsent.isEmpty {
            let count = unsent.withUnsafeBytes { Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            guard count > 0 else { return }
            unsent = unsent.dropFirst(count)
        }
    }

    /// Nothing can be written to it any more.
    func endOutput() { shutdown(descriptor, Int32(SHUT_RD)) }

    /// Sends without end, on a thread, until the connection is closed.
    func flood() {
        let descriptor = dup(descriptor)
        _ = PThread.start("test-flood") {
            let bytes = [UInt8](repeating: 0x61, count: 64 << 10)
            while Glibc.send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL)) >= 0 || errno == EAGAIN {}
            Glibc.close(descriptor)
        }
    }

    func endInput() { shutdown(descriptor, Int32(SHUT_WR)) }

    /// Whether everything has been sent.
    var hasSentAll: Bool { unsent.isEmpty }

    /// Reads what is there, without running the loop.
    /// - Parameter most: how many bytes at the most.
    /// - Returns: nil at the end.
    func take(most: Int = .max) -> String? {
        var bytes: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 64 << 10)
        while bytes.count < most {
            let count = read(descriptor, &piece, min(piece.count, most - bytes.count))
            if count > 0 {
                bytes += piece[..<count]
            } else {
                if count == 0 || errno != EAGAIN, bytes.isEmpty { return nil }
                break
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// So many lines, while the loop runs.
    func lines(_ count: Int) async throws -> [String] {
        var text = ""
        var found = 0
        try await eventually("\(count) lines") {
            for _ in 0..<50 where found < count {
                connections.step()
                let more = try #require(take(), "the connection is closed after \(found) lines")
                found += more.utf8.count { $0 == 0x0A }
                text += more
            }
            return found >= count
        }
        connections.settle()
        text += take() ?? ""
        return text.split(separator: "\n").map(String.init)
    }

    /// Waits until the connection is closed, while the loop runs.
    func untilClosed() async throws {
        try await eventually("it is closed") {
            connections.step()
            return take() == nil
        }
    }
}
