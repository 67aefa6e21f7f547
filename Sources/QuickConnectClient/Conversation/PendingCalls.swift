internal import DequeModule
internal import HeapModule

/// The calls of a conversation that have no reply yet: which are under way, which wait and in which order, which are
/// late. A call is sent once, over one connection.
struct PendingCalls {
    typealias Instant = ContinuousClock.Instant

    /// Who is told what becomes of a call.
    enum Purpose {
        case caller
        /// The conversation: whether something stands.
        case standing(ClientConversation.Standing)
        /// Nobody.
        case nobody
    }

    struct Call {
        var precedence: CallID.Precedence
        var purpose = Purpose.caller
        /// Nil where it was written by somebody else, who knows it.
        var command: String?
        var deadline: Instant?
        /// The line, with its line break, until it is sent.
        var line: [UInt8]?
        /// What counts: the line's bytes, and what is needed to remember the call.
        var bytes = 0
        /// Whether it has been given up. It takes its place until the daemon has answered it.
        var isGivenUp = false

        var isSent: Bool { line == nil }
    }

    private struct Deadline: Comparable {
        var instant: Instant
        var number: Int

        static func < (a: Deadline, b: Deadline) -> Bool { (a.instant, a.number) < (b.instant, b.number) }
    }

    private let most: Int
    private let mostBytes: Int
    private var calls: [Int: Call] = [:]
    /// The numbers of those that wait, in order. It may hold others, which wait no more.
    private var queue: Deque<Int> = []
    private var queuedCount = 0
    private var underWay = 0
    private var bytes = 0
    private var deadlines = Heap<Deadline>()

    /// What a call is counted as besides its line.
    static let bytesOfCall = 512

    /// - Parameters:
    ///   - most: how many calls that count may be under way at once.
    ///   - mostBytes: how much all calls without a reply may take.
    init(most: Int, mostBytes: Int) {
        self.most = most
        self.mostBytes = mostBytes
    }

    var count: Int { calls.count }
    /// How many wait to be sent.
    var waitingCount: Int { queuedCount }

    subscript(number: Int) -> Call? { calls[number] }

    /// Whether another call that counts may be added.
    func hasRoom(for lineBytes: Int) -> Bool { bytes + lineBytes + Self.bytesOfCall <= mostBytes }

    /// Whether a new call goes out at once.
    func mayGo(_ precedence: CallID.Precedence) -> Bool {
        switch precedence {
        case .ahead: true
        case .uncounted: queuedCount == 0
        case .inOrder: queuedCount == 0 && underWay < most
        }
    }

    /// Adds a call that is being sent.
    mutating func add(sent call: Call, _ number: Int) {
        if call.precedence == .inOrder { underWay += 1 }
        add(call, number)
    }

    /// Adds a call that waits: it has a line.
    mutating func add(waiting call: Call, _ number: Int) {
        queue.append(number)
        queuedCount += 1
        add(call, number)
    }

    private mutating func add(_ call: Call, _ number: Int) {
        bytes += call.bytes
        if let deadline = call.deadline { deadlines.insert(Deadline(instant: deadline, number: number)) }
        calls[number] = call
    }

    /// Takes a call that is over: answered, or given up before it was sent.
    mutating func take(_ number: Int) -> Call? {
        guard let call = calls.removeValue(forKey: number) else { return nil }
        bytes -= call.bytes
        if !call.isSent {
            queuedCount -= 1
            forgetStale()
        } else if call.precedence == .inOrder {
            underWay -= 1
        }
        return call
    }

    /// The caller waits no more for a call that is under way.
    mutating func giveUp(_ number: Int) { calls[number]?.isGivenUp = true }

    /// A program that makes and gives up calls for a year without a connection must not keep them all.
    private mutating func forgetStale() {
        guard queue.count > 2 * queuedCount + 64 else { return }
        queue.removeAll { calls[$0].map(\.isSent) ?? true }
    }

    // MARK: What may be sent

    /// Gives the lines of those that may go now, and marks them as sent.
    mutating func send(_ write: ([UInt8]) -> Void) {
        while let number = queue.first {
            if let call = calls[number], !call.isSent {
                guard call.precedence != .inOrder || underWay < most else { return }
                send(number, write)
            }
            queue.removeFirst()
        }
    }

    /// The same over a new connection: what goes past the others is found behind them.
    mutating func sendAll(_ write: ([UInt8]) -> Void) {
        send(write)
        for number in queue where calls[number]?.precedence == .ahead { send(number, write) }
    }

    private mutating func send(_ number: Int, _ write: ([UInt8]) -> Void) {
        guard let line = calls[number]?.line else { return }
        calls[number]?.line = nil
        queuedCount -= 1
        if calls[number]?.precedence == .inOrder { underWay += 1 }
        write(line)
    }

    /// Takes those that were sent, in order: their connection is lost.
    mutating func takeSent() -> [(number: Int, call: Call)] { take { $0.isSent } }

    /// Takes all, in order.
    mutating func takeAll() -> [(number: Int, call: Call)] { take { _ in true } }

    private mutating func take(_ isMeant: (Call) -> Bool) -> [(number: Int, call: Call)] {
        let numbers = calls.filter { isMeant($0.value) }.keys.sorted()
        return numbers.compactMap { number in take(number).map { (number, $0) } }
    }

    // MARK: Deadlines

    /// When the next one is over; it may be one of a call that has been answered.
    var nextDeadline: Instant? { deadlines.min?.instant }

    /// The next call whose deadline is over.
    mutating func takeLate(at now: Instant) -> Int? {
        while let first = deadlines.min, first.instant <= now || calls[first.number] == nil {
            deadlines.removeMin()
            if let call = calls[first.number], !call.isGivenUp { return first.number }
        }
        forgetDeadlines()
        return nil
    }

    private mutating func forgetDeadlines() {
        guard deadlines.count > 2 * calls.count + 64 else { return }
        deadlines = Heap(deadlines.unordered.filter { calls[$0.number] != nil })
    }
}
