import Fairness
import JSON
import Logging
import NIOCore
import QuickConnect

/// One client's connection on its event loop: bytes to lines for its conversation, lines to bytes.
///
/// Input is processed in turns of a millisecond (``BusyConnections``), so that no client delays the others, however much
/// it sends. What a client has not read yet is its backlog. Above ``pauseMark`` the connection stops reading input, which
/// bounds the replies of a client that does not read; events and late replies may add up to the limit. What is kept for
/// a connection counts for its user (``PeerMemory``).
final class ConnectionHandler: ChannelDuplexHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    static let welcomeTime = TimeAmount.milliseconds(250)
    /// How long a client that is closed has to read why.
    static let refusalTime = TimeAmount.milliseconds(500)
    /// How long a connection that has used up a turn counts as busy.
    static let busyTime = TimeAmount.milliseconds(100)
    /// How many events may be delivered in one turn.
    static let maxDeliveries = 256
    static let muchInput = 32 << 10
    /// What one read can add to what is kept: the largest buffer (``UnixSocketListener/receiveSizes``), counted twice.
    static let maxReadAhead = 128 << 10
    static let pauseMark = 256 << 10
    static let resumeMark = 64 << 10
    static let flushMark = 64 << 10
    /// The next calls to handlers are sent when less than this waits, and what the kernel keeps of them: what has been sent
    /// is no longer in turns.
    static let callMark = 4 << 10
    static let handlerSendBuffer = 32 << 10

    private(set) var connection: Connection?
    /// Makes the connection; nil once there is one.
    var makeConnection: ((SocketOutput) -> Connection)?
    let limits: Limits
    let logger: Logger
    let resources: LoopResources
    /// Nil once the client is gone.
    var context: ChannelHandlerContext?
    /// Nil once the connection has ended, which is later than that if input is left to process.
    var loop: (any EventLoop)?

    // Input
    var framer: LineFramer
    var input = ByteBuffer()
    var batch: Batch?
    /// Whether another thread is reading a long line; the lines after it wait.
    var isReadingLine = false
    var isProcessing = false
    /// Whether it waits for its turn.
    var isScheduled = false
    /// When it last used up a turn.
    var usedTurn = NIODeadline.uptimeNanoseconds(0)
    /// When it last sent something; for choosing the idle connection that is closed for a newcomer.
    var lastReceived = NIODeadline.now()
    /// A line that another thread is reading, in bytes.
    var longLineBytes = 0
    /// What is counted for its caller.
    var charge = Charge(step: 4 << 10)
    var chargedCaller: Caller?
    var readIsPending = false
    /// Whether it is told when it may read.
    var waitsToRead = false
    var inputHasEnded = false
    /// Whether the client is gone, and input is left to process.
    var isGone = false
    /// What is left to do after an end.
    var ending: ConnectionEnd?
    var hasReceived = false
    /// How much came last.
    var receivedBytes = 0
    var sendsMuch: Bool { receivedBytes >= Self.muchInput }
    /// What the read that it waits for may add to an unfinished line.
    var readAhead = 0
    /// How many turns have ended lines.
    var lineCount = 0

    // Output
    var output: OutputBuffer?
    var queue = OutgoingQueue()
    /// Whether a handler of its client has been called.
    var hasHandlers = false
    /// Calls to its handlers that wait; nil if none does.
    var calls: OutgoingCalls?
    /// How much of what is not sent yet are calls that have waited: their callers are charged for them.
    var callBytes = 0
    /// Bytes written but not yet taken by the kernel.
    var writtenBytes = 0
    var flushIsScheduled = false
    var isPaused = false
    var sensors = SensorBacklog()
    var isClosing = false
    /// Whether it closes once the queue is empty.
    var closesWhenSent = false
    /// Counts the pieces that the kernel took, to detect whether a paused client reads at all.
    var progress = 0
    var stallTimer: Scheduled<Void>?
    var closeTimer: Scheduled<Void>?

    init(
        limits: Limits,
        logger: Logger,
        resources: LoopResources,
        makeConnection: @escaping (SocketOutput) -> Connection
    ) {
        self.limits = limits
        self.logger = logger
        self.resources = resources
        self.makeConnection = makeConnection
        framer = LineFramer(limit: limits.lineBytes)
    }

    // MARK: Life

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        loop = context.eventLoop
        connection = makeConnection?(SocketOutput(self, context.channel, thread: resources.thread))
        makeConnection = nil
    }

    func channelInactive(context: ChannelHandlerContext) {
        stallTimer?.cancel()
        closeTimer?.cancel()
        (queue, calls) = (OutgoingQueue(), nil)
        writtenBytes = 0
        if let output { resources.giveBack(output) }
        output = nil
        isPaused = false
        self.context = nil
        let mayHaveMore = input.readableBytes > 0 || isBusy || isProcessing
        if mayHaveMore, !isClosing, let connection, resources.keepsInput(of: connection) {
            // What it sent before it went counts: answers of its handlers, posts.
            isGone = true
            connection.leave()
            processInput()
        } else {
            end()
        }
        context.fireChannelInactive()
    }

    /// Ends the connection of a client that is gone once all that it sent has been processed.
    func endIfGone() {
        guard isGone, let connection, !isBusy, !isProcessing else { return }
        resources.endInput(of: connection)
        end()
    }

    func end() {
        guard let connection, let loop else { return }
        (input, batch, longLineBytes) = (ByteBuffer(), nil, 0)
        recount()
        if resources.memory.takeFreed() { resources.trimLater(on: loop) }
        self.connection = nil
        self.loop = nil
        finish(connection.closeInSteps(), of: connection.owner, on: loop)
    }

    /// Does what an end leaves to do, in turns: each step may be an event for many.
    func finish(_ steps: Connection.Steps, of peer: Owner, on loop: any EventLoop) {
        guard !steps.isEmpty else { return }
        if let ending {
            ending.add(steps)
        } else {
            ending = ConnectionEnd(steps, of: peer, on: loop)
        }
        workOnEnding(until: .now() + BusyConnections.shortTurn)
    }

    func workOnEnding(until end: NIODeadline) {
        guard let ending else { return }
        if ending.work(until: end) {
            self.ending = nil
        } else if !isScheduled {
            isScheduled = true
            resources.busy.append(self, of: ending.peer, isBusy: true, on: ending.loop)
        }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case .some(ChannelEvent.inputClosed) = event as? ChannelEvent {
            inputHasEnded = true
            if input.readableBytes > Self.muchInput, let caller = connection?.caller,
                resources.memory.isUsedUp(by: caller)
            {
                return refuse(resources.memory.refusal(of: "what came last is not kept", for: caller))
            }
            processInput()
        } else {
            context.fireUserInboundEventTriggered(event)
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        logger.debug("connection closed: \(error)")
        context.close(promise: nil)
    }
}
