internal import Concurrency
internal import Glibc
internal import JSON
internal import Linux
internal import NIOCore
internal import NIOPosix
internal import QuickConnect

/// Why the daemon refuses a page.
struct DaemonRefusal: Error {
    var code: String
    var message: String

    static func away(_ reason: String) -> DaemonRefusal {
        DaemonRefusal(
            code: CommandError.Code.unavailable.rawValue,
            message: "the daemon does not answer (\(reason)); it may be starting, so try again"
        )
    }

    static func missing(_ path: String) -> DaemonRefusal {
        DaemonRefusal(
            code: CommandError.Code.unavailable.rawValue,
            message: """
                there is no socket \(path): the daemon is not running, or its settings have no entry «gateway: web» with \
                this path below «sockets»
                """
        )
    }

    static func share(_ name: String, _ limit: Int) -> DaemonRefusal {
        DaemonRefusal(
            code: CommandError.Code.overloaded.rawValue,
            message: """
                web:\(name) has too many pages open, or calls under way: \(Share.quarter.part(of: limit)), a quarter of the \
                \(limit) that the gateway's socket takes (its setting «connections»); close one, or try again
                """
        )
    }
}

/// Makes connections to the gateway's socket of the daemon, one for each page and each program that makes calls. A user
/// may have a quarter of those that the daemon takes. For use on its event loop only.
final class DaemonDialer {
    private struct Line {
        let channel: any Channel
        /// The key of its session.
        let session: String
        /// Whether it may be closed for another one of its user.
        let isIdle: () -> Bool
    }

    let path: String
    let loop: any EventLoop
    /// How many connections the daemon takes on this socket.
    private let limit: Int
    private var lines: [String: [Line]] = [:]
    /// How many files a user may be writing: each keeps a connection, and leaves half of the user's to pages.
    var uploadLimit: Int { max(1, Share.quarter.part(of: limit) / 2) }
    /// Connections that are being made.
    private var starting: [String: Int] = [:]

    private static let timeout = TimeAmount.seconds(5)
    /// How often, and after which time, it is tried again.
    static let (tries, pause) = (20, TimeAmount.milliseconds(50))
    /// Small at first, because an idle connection keeps the memory.
    static let receiveSizes = AdaptiveRecvByteBufferAllocator(minimum: 64, initial: 256, maximum: 64 << 10)

    init(path: String, limit: Int, loop: any EventLoop) {
        self.path = path
        self.limit = limit
        self.loop = loop
    }

    /// A connection on which the daemon knows its user; or a ``DaemonRefusal``. One of a user with too many waits a second for
    /// another one to end.
    /// - Parameters:
    ///   - session: the key of the session with which it ends.
    ///   - isIdle: whether it may be closed, because it is only kept for later.
    func connect(
        for identity: WebIdentity,
        session: String,
        isIdle: @escaping () -> Bool = { false },
        tries: Int = DaemonDialer.tries
    ) -> EventLoopFuture<any Channel> {
        let name = identity.name
        guard hasRoom(for: name) else {
            guard tries > 0 else { return loop.makeFailedFuture(DaemonRefusal.share(name, limit)) }
            // Others of its user are mostly calls that are over soon.
            return loop.assumeIsolated().flatScheduleTask(deadline: .now() + Self.pause) {
                self.connect(for: identity, session: session, isIdle: isIdle, tries: tries - 1)
            }.futureResult
        }
        starting[name, default: 0] += 1
        return dial(identity).assumeIsolated().always { result in
            self.starting[name] = self.starting[name].flatMap { $0 > 1 ? $0 - 1 : nil }
            guard case .success(let channel) = result else { return }
            self.lines[name, default: []].append(Line(channel: channel, session: session, isIdle: isIdle))
            channel.closeFuture.assumeIsolated().whenComplete { _ in self.remove(channel, name) }
        }.nonisolated()
    }

    /// Closes a connection that the user only keeps, if there is no room otherwise.
    private func hasRoom(for name: String) -> Bool {
        let count = (lines[name]?.count ?? 0) + (starting[name] ?? 0)
        guard count >= Share.quarter.part(of: limit) else { return true }
        guard let idle = lines[name]?.first(where: { $0.isIdle() }) else { return false }
        remove(idle.channel, name)
        idle.channel.close(promise: nil)
        return true
    }

    /// Closes the connections of sessions that have ended.
    func close(sessions keys: Set<String>) {
        let ended = lines.values.joined().filter { keys.contains($0.session) }
        for line in ended { line.channel.close(promise: nil) }
    }

    private func remove(_ channel: any Channel, _ name: String) {
        lines[name]?.removeAll { $0.channel === channel }
        if lines[name]?.isEmpty == true { lines[name] = nil }
    }

    private func dial(_ identity: WebIdentity) -> EventLoopFuture<any Channel> {
        let promise = loop.makePromise(of: (any Channel).self)
        let channel = ClientBootstrap(group: loop)
            .connectTimeout(Self.timeout)
            .channelOption(.recvAllocator, value: Self.receiveSizes)
            .channelOption(.maxMessagesPerRead, value: 1)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(Greeting(identity, promise))
                }
            }
            .connect(unixDomainSocketPath: path)
        channel.whenFailure { [path] error in
            let isMissing = (error as? IOError)?.errnoCode == ENOENT
            promise.fail(isMissing ? DaemonRefusal.missing(path) : .away(Self.words(for: error)))
        }
        return promise.futureResult
    }

    /// Without the names of SwiftNIO's functions, which its errors contain.
    private static func words(for error: any Error) -> String {
        switch error {
        case let error as IOError: SystemCallError.text(error.errnoCode)
        case ChannelError.connectTimeout: "it did not accept within \(timeout.nanoseconds / 1_000_000_000) s"
        default: "\(error)"
        }
    }
}

/// Sends the user of a connection, and waits for the daemon's reply.
private final class Greeting: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer

    private let identity: WebIdentity
    private var promise: EventLoopPromise<any Channel>?
    private var reply: [UInt8] = []
    private static let maxReply = 64 << 10
    private static let patience = TimeAmount.seconds(10)
    private var deadline: Scheduled<Void>?

    init(_ identity: WebIdentity, _ promise: EventLoopPromise<any Channel>) {
        self.identity = identity
        self.promise = promise
    }

    func channelActive(context: ChannelHandlerContext) {
        let options: JSONValue = ["groups": .array(identity.groups.map { .string($0) }), "leases": true]
        let call: JSONValue = [
            "handlerName": .string(SocketRule.actFor), "data": [.string(identity.name), options],
            "callbackId": .string(SocketRule.actFor),
        ]
        context.writeAndFlush(NIOAny(ByteBuffer(string: call.text + "\n")), promise: nil)
        let channel = context.channel
        deadline = context.eventLoop.scheduleTask(in: Self.patience) { channel.close(promise: nil) }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        reply += unwrapInboundIn(data).readableBytesView
        if let end = reply.firstIndex(of: UInt8(ascii: "\n")) {
            finish(context, Self.refusal(String(decoding: reply[..<end], as: UTF8.self)))
        } else if reply.count > Self.maxReply {
            finish(context, .away("it does not speak as a daemon does"))
        }
    }

    func channelInactive(context: ChannelHandlerContext) { finish(context, .away("it closed the connection")) }

    private func finish(_ context: ChannelHandlerContext, _ refusal: DaemonRefusal?) {
        deadline?.cancel()
        guard let promise else { return }
        self.promise = nil
        if let refusal {
            promise.fail(refusal)
            context.close(promise: nil)
        } else {
            context.pipeline.syncOperations.removeHandler(self, promise: nil)
            promise.succeed(context.channel)
        }
    }

    /// Nil if the daemon acts for the user from now on.
    private static func refusal(_ line: String) -> DaemonRefusal? {
        guard let members = (try? JSONParser.parse(line))?.objectValue else {
            // A connection that is refused before anything was read gets the reply in the other form.
            return line.contains("overloaded")
                ? DaemonRefusal(code: "overloaded", message: "too many pages are open; close one")
                : DaemonRefusal(code: "denied", message: "the daemon refuses this gateway; its log says why")
        }
        guard let error = members["error"]?.objectValue else { return nil }
        return DaemonRefusal(
            code: error["code"]?.stringValue ?? "internal",
            message: error["message"]?.stringValue ?? "the daemon gave no reason"
        )
    }
}
