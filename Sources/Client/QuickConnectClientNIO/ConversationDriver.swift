internal import Linux
internal import NIOCore
internal import NIOPosix
internal import QuickConnectClient

/// Drives a conversation over a channel. Only on its event loop.
final class ConversationDriver {
    private let eventLoop: any EventLoop
    private let paths: [String]
    var conversation: ClientConversation
    var onEvent: (ClientConversation.Event) -> Void = { _ in }
    private var promises: [CallID: EventLoopPromise<DaemonChannel.Reply>] = [:]
    private var channel: (any Channel)?
    private var connectedAt = ContinuousClock.now
    private var backoff = Backoff()
    private var retry: Scheduled<Void>?
    private var alarm: (instant: ContinuousClock.Instant, task: Scheduled<Void>)?
    private var isClosed = false
    /// Whether events are being delivered. What happens meanwhile is delivered after them.
    private var isTelling = false

    init(_ eventLoop: any EventLoop, _ paths: [String], _ conversation: ClientConversation) {
        self.eventLoop = eventLoop
        self.paths = paths
        self.conversation = conversation
    }

    // MARK: The connection

    func connect() {
        retry = nil
        connect(to: paths[...])
    }

    private func connect(to paths: ArraySlice<String>) {
        guard !isClosed else { return }
        guard let path = paths.first else { return connect(in: backoff.failed()) }
        let bound = NIOLoopBound(self, eventLoop: eventLoop)
        ClientBootstrap(group: eventLoop)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(ConversationHandler(bound.value))
                }
            }
            .connect(unixDomainSocketPath: path)
            .whenComplete { result in
                switch result {
                case .success(let channel): bound.value.connected(channel)
                case .failure: bound.value.connect(to: paths.dropFirst())
                }
            }
    }

    private func connected(_ channel: any Channel) {
        guard !isClosed, channel.isActive else { return channel.close(promise: nil) }
        self.channel = channel
        connectedAt = .now
        conversation.connected()
        goOn()
    }

    func receive(_ bytes: ByteBuffer) {
        bytes.withUnsafeReadableBytes { conversation.receive($0.assumingMemoryBound(to: UInt8.self)) }
        goOn()
    }

    func lose(_ channel: any Channel, _ reason: String) {
        guard self.channel === channel else { return }
        self.channel = nil
        conversation.lost(reason)
        if !isClosed { connect(in: backoff.lost(after: .now - connectedAt)) }
        goOn()
    }

    private func connect(in pause: Duration) {
        let bound = NIOLoopBound(self, eventLoop: eventLoop)
        retry = eventLoop.scheduleTask(in: TimeAmount(pause)) { bound.value.connect() }
    }

    func close() {
        guard !isClosed else { return }
        isClosed = true
        retry?.cancel()
        conversation.close("the program closed it")
        goOn()
        alarm?.task.cancel()
        channel?.close(promise: nil)
        channel = nil
    }

    // MARK: The conversation

    func call(
        _ command: String,
        _ message: CallMessage,
        _ deadline: ContinuousClock.Instant?,
        _ promise: EventLoopPromise<DaemonChannel.Reply>
    ) {
        guard !isClosed else { return promise.fail(CallFailure.connectionLost("the program closed it")) }
        promises[conversation.call(command, message, before: deadline)] = promise
    }

    /// Sends pending output, delivers events, and sets the alarm.
    func goOn() {
        notify()
        if let channel, conversation.hasOutput {
            channel.writeAndFlush(ByteBuffer(bytes: conversation.takeOutput()), promise: nil)
        }
        setAlarm()
    }

    private func notify() {
        guard !isTelling else { return }
        isTelling = true
        defer { isTelling = false }
        while conversation.hasEvents {
            for event in conversation.takeEvents() {
                switch event {
                case .replied(let id, let command, let value):
                    promises.removeValue(forKey: id).map { $0.succeed((command, value)) } ?? onEvent(event)
                case .failed(let id, let failure):
                    promises.removeValue(forKey: id).map { $0.fail(failure) } ?? onEvent(event)
                default: onEvent(event)
                }
            }
        }
    }

    private func setAlarm() {
        guard !isClosed, let next = conversation.nextDeadline, alarm.map({ next < $0.instant }) ?? true else { return }
        alarm?.task.cancel()
        let bound = NIOLoopBound(self, eventLoop: eventLoop)
        let pause = TimeAmount(max(.zero, next - .now)) + .milliseconds(1)
        alarm = (next, eventLoop.scheduleTask(in: pause) { bound.value.ring() })
    }

    private func ring() {
        alarm = nil
        conversation.advance(to: .now)
        goOn()
    }
}

/// Passes a channel's events to the driver.
private final class ConversationHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let driver: ConversationDriver
    private var reason = "the daemon closed the connection"

    init(_ driver: ConversationDriver) { self.driver = driver }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) { driver.receive(unwrapInboundIn(data)) }

    func channelInactive(context: ChannelHandlerContext) { driver.lose(context.channel, reason) }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        reason = "\(error)"
        context.close(promise: nil)
    }
}
