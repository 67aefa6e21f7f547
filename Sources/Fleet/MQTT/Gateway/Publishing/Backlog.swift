import Concurrency
import DequeModule

/// Messages to be published that have not been handed over. Bounded, to limit the cost of a broker that is away or
/// slow. A value; the caller supplies the time.
struct Backlog: Sendable {
    typealias Instant = ContinuousClock.Instant

    /// What happens to a message if there is no room, or a newer one comes.
    enum Kind: Sendable, Hashable {
        /// Somebody waits for it: replies have as much room as all other messages. A refusal answers a call that was
        /// not done: the refusals of one caller's flood must leave room for answers.
        case reply(of: String, to: String, isRefusal: Bool = false)
        /// The oldest of these is dropped first if there is no room.
        case event
        /// Replaces the last message of its topic if that has the same key: a sensor's value, or progress.
        case newest(key: String)
        /// One per topic: the current state.
        case state

        fileprivate var key: String? {
            switch self {
            case .reply, .event: nil
            case .newest(let key): key
            case .state: ""
            }
        }
    }

    private struct Entry {
        var message: MQTTMessage
        var kind: Kind
    }

    /// One caller's share of the queue.
    private struct Share {
        var messages = 0
        var bytes = 0
    }

    private let maxMessages: Int
    private let maxBytes: Int
    /// By ascending numbers; some numbers in between have been removed.
    private var entries: [Int: Entry] = [:]
    /// Nil is the place of an answer: whose it is, is decided when it goes, so that callers take turns.
    private var order: Deque<Int?> = []
    private var answers = Ring<String, Int>()
    /// The last replaceable message of each topic.
    private var last: [String: Int] = [:]
    private var number = 0
    /// The number for a message put before all others.
    private var firstNumber = 0
    private var delayed: [(at: Instant, entry: Entry)] = []
    private(set) var bytes = 0
    /// The share of each caller.
    private var replies: [String: Share] = [:]
    /// How many have been dropped in total.
    private(set) var droppedEvents = 0
    private(set) var droppedReplies = 0

    /// The memory of a message in addition to its contents.
    private static let overhead = 200

    init(messages: Int, bytes: Int) { (maxMessages, maxBytes) = (messages, bytes) }

    var count: Int { entries.count + delayed.count }
    var isEmpty: Bool { count == 0 }

    /// Whether there is no room for messages that nobody waits for.
    var isFull: Bool { count >= maxMessages || bytes >= maxBytes }

    /// Whether no further call of this caller should start. One caller may use at most half of the room.
    func isFull(for caller: String) -> Bool { isFull || hasMore(caller, than: 0.5) }

    private func hasMore(_ caller: String, than part: Double) -> Bool {
        guard let share = replies[caller] else { return false }
        return Double(share.messages) >= part * Double(maxMessages) || Double(share.bytes) >= part * Double(maxBytes)
    }

    private static func size(_ message: MQTTMessage) -> Int { message.byteCount + overhead }

    // MARK: In

    /// - Parameters:
    ///   - moment: when it may be sent; nil: at once.
    ///   - isOld: a newer message of its topic that already waits takes precedence.
    mutating func add(
        _ message: MQTTMessage,
        _ kind: Kind,
        notBefore moment: Instant? = nil,
        onlyIfNoneWaits isOld: Bool = false
    ) {
        if isOld, last[message.topic] != nil { return }
        if case .reply(_, let caller, let isRefusal) = kind {
            guard hasRoom(forReply: Self.size(message), to: caller, isRefusal) else {
                droppedReplies += 1
                return
            }
        }
        if let moment {
            let place = delayed.firstIndex { $0.at > moment } ?? delayed.endIndex
            delayed.insert((moment, Entry(message: message, kind: kind)), at: place)
            tally(message, kind)
        } else if !replace(message, kind) {
            append(message, kind)
            makeRoom()
        }
    }

    /// The refusals of one caller's flood leave room for answers. A caller with few answers waiting always has room: a
    /// daemon that comes back may answer a thousand calls of another caller at once.
    private func hasRoom(forReply size: Int, to caller: String, _ isRefusal: Bool) -> Bool {
        if !hasMore(caller, than: 1.0 / Double(CallerSessions.most)) { return true }
        return count < 2 * maxMessages && bytes + size <= 2 * maxBytes + (8 << 20)
            && !(isRefusal && hasMore(caller, than: 0.75))
    }

    /// Adds a message to the counts, or subtracts it.
    private mutating func tally(_ message: MQTTMessage, _ kind: Kind, _ sign: Int = 1) {
        bytes += sign * Self.size(message)
        guard case .reply(_, let caller, _) = kind else { return }
        var share = replies[caller] ?? Share()
        share.messages += sign
        share.bytes += sign * Self.size(message)
        replies[caller] = share.messages > 0 ? share : nil
    }

    private mutating func replace(_ message: MQTTMessage, _ kind: Kind) -> Bool {
        guard let key = kind.key, let number = last[message.topic], let old = entries[number], old.kind.key == key
        else {
            return false
        }
        bytes += Self.size(message) - Self.size(old.message)
        entries[number] = Entry(message: message, kind: kind)
        return true
    }

    /// Puts a message back in front of all others.
    mutating func putBack(_ message: MQTTMessage, _ kind: Kind) {
        firstNumber -= 1
        entries[firstNumber] = Entry(message: message, kind: kind)
        order.prepend(firstNumber)
        tally(message, kind)
        makeRoom()
    }

    private mutating func append(_ message: MQTTMessage, _ kind: Kind) {
        number += 1
        entries[number] = Entry(message: message, kind: kind)
        if case .reply(_, let caller, _) = kind {
            answers.append(number, of: caller)
            order.append(nil)
        } else {
            order.append(number)
        }
        if kind.key != nil { last[message.topic] = number }
        tally(message, kind)
    }

    /// Drops the oldest events. There is one state per topic, and replies have their own limit.
    private mutating func makeRoom() {
        guard isFull else { return }
        for case let number? in order where count > maxMessages || bytes > maxBytes {
            switch entries[number]?.kind {
            case .event?, .newest?:
                remove(number)
                droppedEvents += 1
            case .reply?, .state?, nil: break
            }
        }
        forgetPlaces()
    }

    /// Removes stale positions now and then: the queue may be long, and when it is full each new event leaves a stale
    /// position.
    private mutating func forgetPlaces() {
        func isStale(_ place: Int?) -> Bool { place.map { entries[$0] == nil } ?? false }
        while let first = order.first, isStale(first) { order.removeFirst() }
        if order.count > 2 * entries.count + 64 { order.removeAll(where: isStale) }
    }

    @discardableResult
    private mutating func remove(_ number: Int) -> (message: MQTTMessage, kind: Kind)? {
        guard let entry = entries.removeValue(forKey: number) else { return nil }
        tally(entry.message, entry.kind, -1)
        if last[entry.message.topic] == number { last[entry.message.topic] = nil }
        return (entry.message, entry.kind)
    }

    // MARK: Out

    /// The next message that may be sent.
    mutating func next(at now: Instant) -> (message: MQTTMessage, kind: Kind)? {
        if let first = delayed.first, first.at <= now {
            delayed.removeFirst()
            tally(first.entry.message, first.entry.kind, -1)
            return (first.entry.message, first.entry.kind)
        }
        while let place = order.popFirst() {
            if let number = place ?? answers.next(), let entry = remove(number) { return entry }
        }
        return nil
    }

    /// Whether a message may be sent now.
    func isReady(at now: Instant) -> Bool { !entries.isEmpty || delayed.first.map { $0.at <= now } ?? false }

    /// When the next delayed message may be sent.
    var nextMoment: Instant? { delayed.first?.at }
}
