import Concurrency
import JSON
import Logging
import QuickConnect
import Runtime

/// One client's connection on the loop: bytes to lines for its conversation, lines to bytes.
///
/// Input is processed in turns of a millisecond (``BusyConnections``), so that no client delays the others, however much
/// it sends. What a client has not read yet is its backlog. Above ``pauseMark`` the connection stops reading input, which
/// bounds the replies of a client that does not read; events and late replies may add up to the limit. What is kept for
/// a connection counts for its user (``PeerMemory``).
final class ConnectionHandler: ChannelOwner {
    static let welcomeTime = LoopSpan.milliseconds(250)
    /// How long a client that is closed has to read why.
    static let refusalTime = LoopSpan.milliseconds(500)
    /// How long a connection that has used up a turn counts as busy.
    static let busyTime = LoopSpan.milliseconds(100)
    /// How many events may be delivered in one turn.
    static let maxDeliveries = 256
    static let smallRead = 512
    static let maxLastReads = 16
    /// How many bytes count as little of what a gone client has left: a call or a few.
    private static let littleRest = 4 << 10
    static let pauseMark = 256 << 10
    static let resumeMark = 64 << 10
    static let flushMark = 64 << 10
    /// The next calls to handlers are sent when less than this waits, and what the kernel keeps of them: what has been sent
    /// is no longer in turns.
    static let callMark = 16 << 10
    static let handlerSendBuffer: Int32 = 32 << 10

    private(set) var connection: Connection?
    let limits: Limits
    let logger: Logger
    let loop: Loop
    let resources: LoopResources
    /// Nil once it is closed.
    private(set) var channel: SocketChannel?
    /// Called once, when its client is gone or it is closed.
    private var left: (() -> Void)?

    // Input
    var framer: LineFramer
    var input = InputBuffer()
    var batch: Batch?
    /// Whether another thread is reading a long line; the lines after it wait.
    var isReadingLine = false
    var isProcessing = false
    /// Whether it waits for its turn.
    var isScheduled = false
    /// Whether it waits for its turn to read on.
    var isUnread = false
    /// When it last used up a turn.
    var usedTurn = LoopTime(nanoseconds: 0)
    /// When it last sent something; for choosing the idle connection that is closed for a newcomer.
    var lastReceived = LoopTime.now()
    /// A line that another thread is reading, in bytes.
    var longLineBytes = 0
    /// What is counted for its caller.
    var charge = Charge(step: 4 << 10)
    var chargedCaller: Caller?
    /// Whether it is told when it may read.
    var waitsToRead = false
    var inputHasEnded = false
    /// Whether the client is gone, and input is left to process.
    private(set) var isGone = false
    /// For whom it is counted that its input is processed after its client has gone, and whether it is little.
    private var inputKeeper: (owner: Owner, isLittle: Bool)?
    /// What is left to do after an end.
    private var ending: ConnectionEnd?
    var hasReceived = false
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
    var flushIsScheduled = false
    var isPaused = false
    var sensors = SensorBacklog()
    /// Whether nothing more is read or written.
    var isClosing = false
    /// Whether it closes once the queue is empty.
    var closesWhenSent = false
    /// Counts the pieces that the kernel took, to detect whether a paused client reads at all.
    var progress = 0
    var stallTimer: LoopDeadline?
    var closeTimer: LoopDeadline?

    /// - Parameter descriptor: a connected socket that does not block, which is closed in the end.
    init(_ descriptor: Int32, limits: Limits, logger: Logger, resources: LoopResources) {
        self.limits = limits
        self.logger = logger
        self.resources = resources
        loop = resources.loop
        channel = SocketChannel(descriptor, on: resources.loop)
        framer = LineFramer(limit: limits.lineBytes)
    }

    // MARK: Life

    /// Begins to read.
    /// - Parameter left: called once, when its client is gone or it is closed.
    func begin(_ connection: Connection, left: @escaping () -> Void) {
        (self.connection, self.left) = (connection, left)
        do { try channel?.begin(for: self) } catch {
            logger.warning("a connection could not be watched: \(error)")
            shut()
        }
    }

    /// Whether what is written reaches its client.
    var isWritable: Bool { channel != nil && !isGone && !isClosing }

    func inputIsReady() { processInput() }

    func outputIsReady() { sendMore() }

    func peerIsGone() {
        guard !isGone, channel != nil else { return }
        loseOutput()
        guard !isClosing, !closesWhenSent, let connection else { return shut() }
        // What it sent before it went counts: answers of its handlers, posts.
        isGone = true
        connection.leave()
        leave()
        processInput()
        endIfGone()
        guard self.connection != nil else { return }
        // The rest is kept here, and not the descriptor for as long as others have their turns.
        takeRest()
        let isLittle = input.count <= Self.littleRest && batch == nil
        guard resources.keepsInput(of: connection, isLittle: isLittle) else { return shut() }
        inputKeeper = (connection.owner, isLittle)
        if !isBusy { waitForTurn(isBusy: true) }
    }

    /// Reads what the kernel has of a client that is gone, and closes the socket.
    private func takeRest() {
        // The kernel keeps less than this; a client that only reads no more may go on sending.
        for _ in 0..<Self.maxLastReads {
            guard let channel, case .bytes(let count) = channel.read(into: resources.received) else { break }
            let bytes = resources.received.assumingMemoryBound(to: UInt8.self)
            input.append(UnsafeBufferPointer(rebasing: bytes[..<count]))
        }
        inputHasEnded = true
        channel?.close()
        channel = nil
        recount()
    }

    /// Nothing can be written any more.
    private func loseOutput() {
        stopWatching()
        closeTimer?.cancel()
        (queue, calls) = (OutgoingQueue(), nil)
        if let output { resources.giveBack(output) }
        output = nil
        isPaused = false
    }

    private func leave() {
        left?()
        left = nil
    }

    /// Closes the socket now, or behind what is being done with it.
    func close() {
        isClosing = true
        if !isProcessing { shut() }
    }

    func shut() {
        guard channel != nil || connection != nil else { return }
        isClosing = true
        loseOutput()
        channel?.close()
        channel = nil
        if let (owner, isLittle) = inputKeeper { resources.endInput(of: owner, isLittle: isLittle) }
        inputKeeper = nil
        leave()
        end()
    }

    /// Ends the connection of a client that is gone once all that it sent has been processed.
    func endIfGone() {
        guard isGone, !isBusy, !isProcessing, inputHasEnded || channel?.isReadable != true else { return }
        shut()
    }

    private func end() {
        guard let connection else { return }
        input.removeAll()
        (batch, longLineBytes) = (nil, 0)
        recount()
        if resources.memory.takeFreed() { resources.trimLater() }
        self.connection = nil
        finish(connection.closeInSteps(), of: connection.owner)
    }

    /// Does what an end leaves to do, in turns: each step may be an event for many.
    func finish(_ steps: Connection.Steps, of peer: Owner) {
        guard !steps.isEmpty else { return }
        if let ending {
            ending.add(steps)
        } else {
            ending = ConnectionEnd(steps, of: peer)
        }
        workOnEnding(until: .now() + BusyConnections.shortTurn)
    }

    func workOnEnding(until end: LoopTime) {
        guard let ending else { return }
        if ending.work(until: end) {
            self.ending = nil
        } else if !isScheduled {
            isScheduled = true
            resources.busy.append(self, of: ending.peer, isBusy: true)
        }
    }
}
