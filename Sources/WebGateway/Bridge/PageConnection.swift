internal import NIOCore
internal import QuickConnectClient

/// A page's WebSocket and its connection to the daemon. For use on its event loop only.
///
/// Lines pass in both directions unchanged. If one side does not take them, the other is not read: a sleeping page
/// costs the daemon no more than any client that does not read, and the gateway two buffers.
final class PageConnection {
    let session: String
    private let page: any Channel
    private let daemon: any Channel
    private var reader: FrameReader
    private var splitter = LineSplitter(limit: longestLine)
    private var state = State.open
    /// Called once, when both have ended.
    var ended: (PageConnection) -> Void = { _ in }

    private enum State {
        case open
        /// A close frame was sent; what the page still sends is ignored.
        case closing
        case over
    }

    /// Longer than any line of the daemon.
    private static let longestLine = 64 << 20
    /// How long a page has to answer a close frame.
    private static let goodbyeTime = TimeAmount.seconds(5)

    init(page: any Channel, daemon: any Channel, session: String, longestMessage: Int) {
        self.page = page
        self.daemon = daemon
        self.session = session
        reader = FrameReader(limit: longestMessage)
    }

    /// Adds the reading handlers to both channels.
    func attach() throws {
        try page.pipeline.syncOperations.addHandler(PageSide(self))
        try daemon.pipeline.syncOperations.addHandler(DaemonSide(self))
    }

    /// The page's channel now carries frames instead of HTTP.
    func start() {
        if !daemon.isActive { daemonIsGone() }
        if !page.isActive { pageIsGone() }
        pageReadComplete()
    }

    // MARK: From the page

    func receive(fromPage bytes: ByteBuffer) {
        guard state == .open else { return awaitGoodbye(bytes) }
        bytes.withUnsafeReadableBytes { reader.read($0) }
        let lines = reader.takeLines()
        if !lines.isEmpty { daemon.write(ByteBuffer(bytes: lines), promise: nil) }
        let answers = reader.takeAnswers()
        if !answers.isEmpty { page.write(ByteBuffer(bytes: answers), promise: nil) }
        switch reader.end {
        case nil: break
        case .closed(let code): close(code)
        case .failed(let code, let reason): close(code, reason)
        }
    }

    /// After the gateway's close frame, everything from the page is ignored except its own close frame.
    private func awaitGoodbye(_ bytes: ByteBuffer) {
        guard reader.end == nil else { return }
        bytes.withUnsafeReadableBytes { reader.read($0) }
        (_, _) = (reader.takeLines(), reader.takeAnswers())
        if reader.end != nil { page.close(promise: nil) }
    }

    func pageReadComplete() {
        daemon.flush()
        page.flush()
    }

    func pageIsGone() {
        guard state != .over else { return }
        // Set first, because the daemon's side may be told at once that it is closed, and would try to close the page,
        // too.
        state = .over
        daemon.close(promise: nil)
        ended(self)
    }

    func pageMayBeWritten(_ may: Bool) { daemon.setOption(.autoRead, value: may).whenComplete { _ in } }

    // MARK: From the daemon

    func receive(fromDaemon bytes: ByteBuffer) {
        guard state == .open else { return }
        var frames: [UInt8] = []
        frames.reserveCapacity(bytes.readableBytes + 64)
        bytes.withUnsafeReadableBytes { bytes in
            splitter.split(bytes.assumingMemoryBound(to: UInt8.self)) { line in
                if case .line(let line) = line, !line.isEmpty {
                    FrameWriter.append(.text, UnsafeRawBufferPointer(line), to: &frames)
                }
            }
        }
        if !frames.isEmpty { page.write(ByteBuffer(bytes: frames), promise: nil) }
    }

    func daemonReadComplete() { page.flush() }

    func daemonIsGone() {
        guard page.isWritable else { return close(.policy, "this page does not read what it is sent") }
        close(.tryAgain, "the daemon has closed the connection; connect again")
    }

    func daemonMayBeWritten(_ may: Bool) { page.setOption(.autoRead, value: may).whenComplete { _ in } }

    // MARK: The gateway's own

    /// Sends the page a line from the gateway itself.
    func tell(_ line: String) {
        guard state == .open else { return }
        var frame: [UInt8] = []
        Array(line.utf8).withUnsafeBytes { FrameWriter.append(.text, $0, to: &frame) }
        page.writeAndFlush(ByteBuffer(bytes: frame), promise: nil)
    }

    /// Sends the page a close frame, and disconnects from the daemon.
    func close(_ code: CloseCode?, _ reason: String = "") {
        guard state == .open else { return }
        state = .closing
        daemon.close(promise: nil)
        let page = page
        let isAnswer = if case .closed = reader.end { true } else { false }
        page.writeAndFlush(ByteBuffer(bytes: FrameWriter.close(code, reason))).whenComplete { _ in
            // The page closes after its own close frame; if it has sent that, there is nothing to wait for.
            if isAnswer { page.close(promise: nil) } else { page.close(mode: .output, promise: nil) }
        }
        let deadline = page.eventLoop.scheduleTask(in: Self.goodbyeTime) { page.close(promise: nil) }
        page.closeFuture.whenComplete { _ in deadline.cancel() }
        // Its answer, or its end, must be noticed.
        page.setOption(.autoRead, value: true).whenComplete { _ in }
    }
}

/// Passes on the events of a page's channel.
private final class PageSide: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let connection: PageConnection

    init(_ connection: PageConnection) { self.connection = connection }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        connection.receive(fromPage: unwrapInboundIn(data))
    }

    func channelReadComplete(context: ChannelHandlerContext) { connection.pageReadComplete() }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        connection.pageMayBeWritten(context.channel.isWritable)
    }

    func channelInactive(context: ChannelHandlerContext) { connection.pageIsGone() }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
}

/// Passes on the events of the daemon's channel.
private final class DaemonSide: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let connection: PageConnection

    init(_ connection: PageConnection) { self.connection = connection }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        connection.receive(fromDaemon: unwrapInboundIn(data))
    }

    func channelReadComplete(context: ChannelHandlerContext) { connection.daemonReadComplete() }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        connection.daemonMayBeWritten(context.channel.isWritable)
    }

    func channelInactive(context: ChannelHandlerContext) { connection.daemonIsGone() }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
}
