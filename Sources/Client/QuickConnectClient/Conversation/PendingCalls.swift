internal import HeapModule

/// The calls of a conversation without a reply: which are running, which wait and in which order, and which are late. A
/// call is sent once, over one connection.
struct PendingCalls {
    typealias Instant = ContinuousClock.Instant

    /// Who is told the result of a call.
    enum Purpose {
        case caller
        /// The conversation: the call registers a handler, a subscription or the opening.
        case standing(ClientConversation.Standing)
        /// Nobody.
        case nobody
    }

    /// Kept small, because a program may make a million calls per second.
    struct Call {
        let precedence: CallID.Precedence
        /// What counts towards the limit: the line's bytes, and the memory to track the call.
        let bytes: Int
        var isSent: Bool
        /// Whether it has been cancelled. It keeps its place until the daemon has answered it.
        var isGivenUp = false

        init(_ precedence: CallID.Precedence, lineBytes: Int, isSent: Bool) {
            self.precedence = precedence
            self.isSent = isSent
            bytes = lineBytes + PendingCalls.bytesOfCall
        }
    }

    /// Further facts about a call that has any.
    struct Note {
        var purpose = Purpose.caller
        /// Nil if other code wrote the line, and so knows the command.
        var command: String?
        var deadline: Instant?
    }

    private struct Deadline: Comparable {
        var instant: Instant
        var number: Int

        static func < (a: Deadline, b: Deadline) -> Bool { (a.instant, a.number) < (b.instant, b.number) }
    }

    private let most: Int
    private let maxBytes: Int
    private var calls: [Int: Call] = [:]
    private var notes: [Int: Note] = [:]
    /// The lines of waiting calls. It may still hold lines of calls that no longer wait.
    private var queue = WaitingLines()
    private var queuedCount = 0
    private var queuedBytes = 0
    private var underWay = 0
    private var bytes = 0
    private var deadlines = Heap<Deadline>()

    /// What a call counts in addition to its line, in bytes.
    private static let bytesOfCall = 512

    /// - Parameters:
    ///   - most: how many counted calls may run at the same time.
    ///   - maxBytes: how many bytes all calls without a reply may take.
    init(most: Int, maxBytes: Int) {
        self.most = most
        self.maxBytes = maxBytes
    }

    var count: Int { calls.count }
    /// How many wait to be sent.
    var waitingCount: Int { queuedCount }

    subscript(number: Int) -> Call? { calls[number] }

    func note(of number: Int) -> Note? { notes[number] }

    /// Whether there is room for another counted call.
    func hasRoom(for lineBytes: Int) -> Bool { lineBytes <= maxBytes - bytes - Self.bytesOfCall }

    /// Whether a new call can be sent at once.
    func mayGo(_ precedence: CallID.Precedence) -> Bool {
        switch precedence {
        case .ahead: true
        case .uncounted: queuedCount == 0
        case .inOrder: queuedCount == 0 && underWay < most
        }
    }

    /// Adds a call that is being sent, or waits.
    /// - Parameter line: including its line break.
    /// - Returns: false if the number is in use; then nothing is added.
    mutating func add(_ call: Call, _ number: Int, _ line: UnsafeBufferPointer<UInt8>) -> Bool {
        if let other = calls.updateValue(call, forKey: number) {
            calls[number] = other
            return false
        }
        bytes += call.bytes
        if !call.isSent {
            queue.append(line, number)
            queuedCount += 1
            queuedBytes += line.count
        } else if call.precedence == .inOrder {
            underWay += 1
        }
        return true
    }

    /// Adds a note to a call that has been added.
    mutating func add(_ note: Note, of number: Int) {
        notes[number] = note
        if let deadline = note.deadline { deadlines.insert(Deadline(instant: deadline, number: number)) }
    }

    /// Removes a call that is cancelled before it was sent.
    mutating func take(_ number: Int) -> Call? {
        guard let call = calls.removeValue(forKey: number) else { return nil }
        forget(call)
        return call
    }

    /// Removes the note of a call that has been removed. Most calls have no note, and this is fast for them.
    mutating func takeNote(of number: Int) -> Note? { notes.isEmpty ? nil : notes.removeValue(forKey: number) }

    /// Removes a call whose reply has come; nil if no such call was sent.
    mutating func take(answered id: CallID) -> Call? {
        guard let index = calls.index(forKey: id.number) else { return nil }
        let call = calls.values[index]
        guard call.isSent, call.precedence == id.precedence else { return nil }
        calls.remove(at: index)
        forget(call)
        return call
    }

    private mutating func forget(_ call: Call) {
        bytes -= call.bytes
        if !call.isSent {
            queuedCount -= 1
            queuedBytes -= call.bytes - Self.bytesOfCall
            forgetStale()
        } else if call.precedence == .inOrder {
            underWay -= 1
        }
    }

    /// Marks a sent call as cancelled by its caller.
    mutating func giveUp(_ number: Int) { calls[number]?.isGivenUp = true }

    /// Drops lines of calls that no longer wait: a program that makes and cancels calls for a year without a connection
    /// must not keep them all.
    private mutating func forgetStale() {
        guard queue.count > 2 * queuedCount + 64 || queue.byteCount > 2 * queuedBytes + 1 << 20 else { return }
        queue.filter { number, _ in calls[number].map { !$0.isSent } ?? false }
    }

    // MARK: What may be sent

    /// Passes the lines that may be sent now to `write`, and marks them as sent.
    mutating func send(_ write: (ArraySlice<UInt8>) -> Void) {
        while let number = queue.first {
            let index = calls.index(forKey: number).flatMap { calls.values[$0].isSent ? nil : $0 }
            if let index {
                guard calls.values[index].precedence != .inOrder || underWay < most else { return }
                markSent(index)
            }
            queue.removeFirst { if index != nil { write($0) } }
        }
    }

    /// The same on a new connection: calls that may be sent before the others are searched for among all waiting ones.
    mutating func sendAll(_ write: (ArraySlice<UInt8>) -> Void) {
        send(write)
        var others = WaitingLines()
        swap(&others, &queue)
        others.filter { number, line in
            guard let index = calls.index(forKey: number), !calls.values[index].isSent else { return false }
            guard calls.values[index].precedence == .ahead else { return true }
            markSent(index)
            write(line)
            return false
        }
        queue = others
    }

    private mutating func markSent(_ index: Dictionary<Int, Call>.Index) {
        calls.values[index].isSent = true
        queuedCount -= 1
        queuedBytes -= calls.values[index].bytes - Self.bytesOfCall
        if calls.values[index].precedence == .inOrder { underWay += 1 }
    }

    /// Removes the calls that were sent, in order: their connection is lost.
    mutating func takeSent() -> [(id: CallID, call: Call, note: Note?)] { take { $0.isSent } }

    /// Removes all calls, in order.
    mutating func takeAll() -> [(id: CallID, call: Call, note: Note?)] { take { _ in true } }

    private mutating func take(_ isMeant: (Call) -> Bool) -> [(id: CallID, call: Call, note: Note?)] {
        let numbers = calls.filter { isMeant($0.value) }.keys.sorted()
        return numbers.compactMap { number in
            take(number).map { (CallID($0.precedence, number), $0, takeNote(of: number)) }
        }
    }

    // MARK: Deadlines

    /// The next deadline; it may belong to a call that has been answered.
    var nextDeadline: Instant? { deadlines.min?.instant }

    /// Removes the next call whose deadline has passed.
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
