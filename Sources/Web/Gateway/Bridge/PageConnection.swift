internal import Linux
internal import NIOCore

/// A page's WebSocket and its connection to the daemon. For use on its event loop only.
///
/// Lines pass in both directions unchanged, in slices. If one side does not take them, the other is not read: a
/// sleeping page costs the daemon no more than any client that does not read, and the gateway two buffers. A page that
/// does not read what it gets is not read itself, so its pings wait, too.
final class PageConnection: Worker {
    let session: String
    /// Whether the page's script answers `{"lease":true}`.
    private let answers: Bool
    private let page: any Channel
    private let daemon: any Channel
    private let fair: Fairly
    private let holding: Holding
    private var reader: FrameReader
    private var splitter = LineSplitter(limit: maxLine)
    private var fromPage = ByteBuffer()
    private var fromDaemon = ByteBuffer()
    private var state = State.open
    private let (pageReading, daemonReading): (Reading, Reading)
    /// What of this is counted in the holding.
    private var counted = 0
    /// Looks whether the page is there, while something is leased to it.
    private var presence: PagePresence?
    /// For the end of a message while the user's share is used up, or for what a page has left behind.
    private var deadline: Scheduled<Void>?
    var isWaiting = false
    var peer: WebPeer { holding.peer }
    /// Called once, when both have ended.
    var ended: (PageConnection) -> Void = { _ in }

    private enum State {
        case open
        /// A close frame was sent; what the page still sends is ignored.
        case closing
        /// The page is gone, and what it has sent before is still passed on.
        case leaving
        case over
    }

    /// Longer than any line of the daemon.
    private static let maxLine = 64 << 20
    /// How long a page has to answer a close frame.
    private static let goodbyeTime = TimeAmount.seconds(5)
    /// How long the one message may take that a user at its share may complete: all others of that user wait for it.
    private static let messageTime = TimeAmount.seconds(10)
    /// A page's frames may be small, and are read one by one.
    private static let framesBytes = 4 << 10
    private static let linesBytes = 16 << 10

    init(
        page: any Channel,
        daemon: any Channel,
        session: String,
        answers: Bool = false,
        maxMessage: Int,
        _ fair: Fairly,
        _ holding: Holding
    ) {
        self.page = page
        self.daemon = daemon
        (pageReading, daemonReading) = (Reading(page), Reading(daemon))
        self.session = session
        self.answers = answers
        self.fair = fair
        self.holding = holding
        reader = FrameReader(limit: maxMessage)
    }

    /// Adds the reading handlers to both channels.
    func attach() throws {
        let pageSide = ConnectionSide(self, received: receive(fromPage:), gone: pageIsGone)
        try page.pipeline.syncOperations.addHandler(pageSide)
        let daemonSide = ConnectionSide(self, received: receive(fromDaemon:), gone: daemonIsGone)
        try daemon.pipeline.syncOperations.addHandler(daemonSide)
        page.setOption(.recvAllocator, value: DaemonDialer.receiveSizes).whenComplete { _ in }
    }

    /// The page's channel now carries frames instead of HTTP.
    /// - Parameter first: what the page has sent behind its request.
    func start(_ first: ByteBuffer) {
        receive(fromPage: first)
        if !daemon.isActive { daemonIsGone() }
        if !page.isActive { pageIsGone() }
    }

    // MARK: Slices

    func work(until end: NIODeadline) -> Bool {
        while state != .over, !hasLeft {
            let (hasSent, hasReceived) = (passFromPage(), passFromDaemon())
            guard hasSent || hasReceived, NIODeadline.now() < end else { break }
        }
        finishSlice()
        return hasWork
    }

    /// After input: now or in its turn.
    func proceed() {
        guard state != .over else { return }
        fair.turns.begin(self)
        updateReading()
    }

    private func finishSlice() {
        guard state != .over else { return }
        if hasLeft { return leave() }
        answerPing()
        daemon.flush()
        page.flush()
        count()
        updateReading()
    }

    private var mayPassFromPage: Bool {
        guard fromPage.readableBytes > 0 else { return false }
        return switch state {
        case .open: daemon.isWritable && page.isWritable
        case .leaving: daemon.isWritable
        case .closing: true
        case .over: false
        }
    }

    private var mayPassFromDaemon: Bool { fromDaemon.readableBytes > 0 && state == .open && page.isWritable }

    private var hasWork: Bool { mayPassFromPage || mayPassFromDaemon }

    private func passFromPage() -> Bool {
        guard mayPassFromPage, let piece = Self.piece(of: &fromPage, Self.framesBytes) else { return false }
        if state == .closing { awaitGoodbye(piece) } else { receive(piece) }
        return true
    }

    private func passFromDaemon() -> Bool {
        guard mayPassFromDaemon, let piece = Self.piece(of: &fromDaemon, Self.linesBytes) else { return false }
        receiveLines(piece)
        return true
    }

    private static func piece(of input: inout ByteBuffer, _ most: Int) -> ByteBuffer? {
        let piece = input.readSlice(length: min(input.readableBytes, most))
        if input.readableBytes == 0 { input = ByteBuffer() }
        return piece
    }

    /// What is kept here; what is written is counted until it is sent.
    private func count() {
        let kept = fromPage.readableBytes + fromDaemon.readableBytes + reader.pendingCount + splitter.pendingCount
        holding.change(&counted, to: kept)
        // Whoever uses the most pays, and not a neighbour.
        guard splitter.pendingCount > Self.linesBytes, fair.holdings.isOver, fair.holdings.isLargest(peer) else {
            return
        }
        close(.tryAgain, Self.tooMuch)
    }

    private func write(_ bytes: [UInt8], to channel: any Channel) {
        let count = bytes.count
        holding.add(count)
        channel.write(ByteBuffer(bytes: bytes)).assumeIsolated().whenComplete { [holding] _ in holding.add(-count) }
    }

    /// Either side is read as long as the other one takes it and the user's share lasts.
    private func updateReading() {
        guard state == .open else { return }
        let (isInMessage, isInLine) = (reader.pendingCount > 0, splitter.pendingCount > 0)
        // What a page begins that does not read could not be completed.
        let hasBegun = page.isWritable && (isInMessage || isInLine)
        let permit = fair.holdings.permit(self, of: peer, hasBegun: hasBegun)
        if permit != .all { fair.holdings.wait(self) { [weak self] in self?.updateReading() } }
        limitMessage(permit == .rest && isInMessage)
        let maySend = permit == .all || (permit == .rest && isInMessage && !fair.holdings.isOver)
        pageReading.set(maySend && page.isWritable && fromPage.readableBytes == 0 && daemon.isWritable)
        let mayReceive = permit == .all || (permit == .rest && isInLine)
        daemonReading.set(mayReceive && page.isWritable && fromDaemon.readableBytes == 0)
    }

    private func limitMessage(_ isLimited: Bool) {
        if !isLimited {
            deadline?.cancel()
            deadline = nil
        } else if deadline == nil {
            deadline = page.eventLoop.assumeIsolated().scheduleTask(in: Self.messageTime) { [weak self] in
                self?.close(.tryAgain, Self.tooMuch)
            }
        }
    }

    private static let tooMuch = "too much is sent at once; connect again"

    // MARK: From the page

    func receive(fromPage bytes: ByteBuffer) {
        var bytes = bytes
        presence?.lastHeard = .now()
        if fromPage.readableBytes == 0 { fromPage = bytes } else { fromPage.writeBuffer(&bytes) }
        proceed()
    }

    private func receive(_ bytes: ByteBuffer) {
        bytes.withUnsafeReadableBytes { reader.read($0) }
        let lines = reader.takeLines()
        if !lines.isEmpty { write(lines, to: daemon) }
        switch reader.end {
        case nil: break
        case .closed(let code): close(code)
        case .failed(let code, let reason): close(code, reason)
        }
    }

    /// Only if the page reads; meanwhile its newest pings wait.
    private func answerPing() {
        guard state == .open, page.isWritable else { return }
        let answer = reader.takeAnswers()
        if !answer.isEmpty { write(answer, to: page) }
    }

    /// After the gateway's close frame, everything from the page is ignored except its own close frame.
    private func awaitGoodbye(_ bytes: ByteBuffer) {
        guard reader.end == nil else { return }
        bytes.withUnsafeReadableBytes { reader.read($0) }
        (_, _) = (reader.takeLines(), reader.takeAnswers())
        if reader.end != nil { page.close(promise: nil) }
    }

    /// What it has sent before still counts, in its turn and as far as the daemon takes it.
    func pageIsGone() {
        switch state {
        case .open:
            state = .leaving
            deadline?.cancel()
            deadline = page.eventLoop.assumeIsolated().scheduleTask(in: Self.goodbyeTime) { [weak self] in
                self?.leave()
            }
            fair.turns.begin(self)
        case .closing: leave()
        case .leaving, .over: break
        }
    }

    private var hasLeft: Bool {
        state == .leaving && (fromPage.readableBytes == 0 || reader.end != nil || !daemon.isActive)
    }

    private func leave() {
        guard state != .over else { return }
        daemon.flush()
        // Set first, because the daemon's side may be told at once that it is closed, and would try to close the page,
        // too.
        state = .over
        deadline?.cancel()
        fromPage = ByteBuffer()
        daemon.close(promise: nil)
        fair.holdings.end(self, of: peer)
        fair.holdings.trimLater()
        ended(self)
    }

    // MARK: From the daemon

    func receive(fromDaemon bytes: ByteBuffer) {
        guard state == .open else { return }
        var bytes = bytes
        if fromDaemon.readableBytes == 0 { fromDaemon = bytes } else { fromDaemon.writeBuffer(&bytes) }
        proceed()
    }

    private func receiveLines(_ bytes: ByteBuffer) {
        var frames: [UInt8] = []
        frames.reserveCapacity(bytes.readableBytes + 64)
        bytes.withUnsafeReadableBytes { bytes in
            splitter.split(bytes.assumingMemoryBound(to: UInt8.self)) { line in
                guard case .line(let line) = line, !line.isEmpty else { return }
                if let isLeased = PagePresence.isLeased(line) { return watchPresence(isLeased) }
                FrameWriter.append(.text, UnsafeRawBufferPointer(line), to: &frames)
            }
        }
        if !frames.isEmpty { write(frames, to: page) }
    }

    /// What is leased runs only as long as the page is there.
    private func watchPresence(_ isLeased: Bool) {
        presence = nil
        guard isLeased else { return }
        presence = PagePresence(page, answers: answers) { [weak self] in
            self?.state == .open
        } gone: { [weak self] in
            self?.close(.policy, "nothing is heard from this page any more, and something is leased to it")
        }
    }

    func daemonIsGone() {
        if state == .leaving { return leave() }
        guard page.isWritable else { return close(.policy, "this page does not read what it is sent") }
        while let piece = Self.piece(of: &fromDaemon, Self.linesBytes), piece.readableBytes > 0 { receiveLines(piece) }
        close(.tryAgain, "the daemon has closed the connection; connect again")
    }

    // MARK: The gateway's own

    /// Sends the page a line from the gateway itself.
    func send(_ line: String) {
        guard state == .open else { return }
        var frame: [UInt8] = []
        Array(line.utf8).withUnsafeBytes { FrameWriter.append(.text, $0, to: &frame) }
        page.writeAndFlush(ByteBuffer(bytes: frame), promise: nil)
    }

    /// Sends the page a close frame, and disconnects from the daemon.
    func close(_ code: CloseCode?, _ reason: String = "") {
        if state == .leaving { return leave() }
        guard state == .open else { return }
        state = .closing
        deadline?.cancel()
        fromDaemon = ByteBuffer()
        splitter.clear()
        count()
        fair.holdings.end(self, of: peer)
        daemon.flush()
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
        pageReading.set(true)
    }
}
