import DequeModule
import MQTT

/// What is to be published and has not been handed over: bounded, so that a broker that is away or slow costs no more than that. A
/// value; the time is told to it.
struct Backlog: Sendable {
    typealias Instant = ContinuousClock.Instant

    /// What becomes of a message where there is no room, or a newer one comes.
    enum Kind: Sendable, Hashable {
        /// Somebody waits for it: it has as much room again as all others.
        /// A refusal is a call's that was not done: those of a caller's flood leave room for answers.
        case reply(of: String, to: String, isRefusal: Bool = false)
        /// The oldest of these goes first where there is no room.
        case event
        /// Replaces the last one of its topic where that has the same key: a sensor's value, progress.
        case newest(key: String)
        /// One for a topic: what is known at any time.
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

    /// What of the queue is one caller's.
    private struct Share {
        var messages = 0
        var bytes = 0
    }

    private let mostMessages: Int
    private let mostBytes: Int
    /// By numbers that rise; those in between are gone.
    private var entries: [Int: Entry] = [:]
    private var order: Deque<Int> = []
    /// The last one of each topic, of those that may be replaced.
    private var last: [String: Int] = [:]
    private var number = 0
    /// Before all others.
    private var firstNumber = 0
    private var delayed: [(at: Instant, entry: Entry)] = []
    private(set) var bytes = 0
    /// What waits for each caller.
    private var replies: [String: Share] = [:]
    /// How many have been left out since the beginning.
    private(set) var droppedEvents = 0
    private(set) var droppedReplies = 0

    /// What a message costs besides what it says.
    private static let overhead = 200

    init(messages: Int, bytes: Int) { (mostMessages, mostBytes) = (messages, bytes) }

    var count: Int { entries.count + delayed.count }
    var isEmpty: Bool { count == 0 }

    /// Whether there is room for what nobody waits for.
    var isFull: Bool { count >= mostMessages || bytes >= mostBytes }

    /// Whether nothing more should be begun whose answer a caller waits for. Half of the room is the most that one may take.
    func isFull(for caller: String) -> Bool { isFull || hasMore(caller, than: 0.5) }

    private func hasMore(_ caller: String, than part: Double) -> Bool {
        guard let share = replies[caller] else { return false }
        return Double(share.messages) >= part * Double(mostMessages) || Double(share.bytes) >= part * Double(mostBytes)
    }

    private static func size(_ message: MQTTMessage) -> Int { message.byteCount + overhead }

    // MARK: In

    /// - Parameters:
    ///   - moment: when it may go; nil: at once.
    ///   - isOld: a newer one of its topic that waits already is better.
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

    /// Refusals of one caller's flood leave room for answers. Who has little waiting has room whatever others have: a
    /// daemon that comes back may answer a thousand calls of one caller at once.
    private func hasRoom(forReply size: Int, to caller: String, _ isRefusal: Bool) -> Bool {
        if !hasMore(caller, than: 1.0 / Double(CallerSessions.most)) { return true }
        return count < 2 * mostMessages && bytes + size <= 2 * mostBytes + (8 << 20)
            && !(isRefusal && hasMore(caller, than: 0.75))
    }

    /// Counts a message in, or out.
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

    /// Puts one that was taken out back in front of all others.
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
        order.append(number)
        if kind.key != nil { last[message.topic] = number }
        tally(message, kind)
    }

    /// Leaves out the oldest events. States are as many as there are topics, and replies have their own bound.
    private mutating func makeRoom() {
        guard isFull else { return }
        for number in order where count > mostMessages || bytes > mostBytes {
            switch entries[number]?.kind {
            case .event?, .newest?:
                remove(number)
                droppedEvents += 1
            case .reply?, .state?, nil: break
            }
        }
        forgetPlaces()
    }

    /// The places of those that were left out, now and then: a queue may be long, and each event of a full one leaves one out.
    private mutating func forgetPlaces() {
        while let first = order.first, entries[first] == nil { order.removeFirst() }
        if order.count > 2 * entries.count + 64 { order.removeAll { entries[$0] == nil } }
    }

    @discardableResult
    private mutating func remove(_ number: Int) -> (message: MQTTMessage, kind: Kind)? {
        guard let entry = entries.removeValue(forKey: number) else { return nil }
        tally(entry.message, entry.kind, -1)
        if last[entry.message.topic] == number { last[entry.message.topic] = nil }
        return (entry.message, entry.kind)
    }

    // MARK: Out

    /// The next message that may go.
    mutating func next(at now: Instant) -> (message: MQTTMessage, kind: Kind)? {
        if let first = delayed.first, first.at <= now {
            delayed.removeFirst()
            tally(first.entry.message, first.entry.kind, -1)
            return (first.entry.message, first.entry.kind)
        }
        while let number = order.popFirst() {
            if let entry = remove(number) { return entry }
        }
        return nil
    }

    /// Whether there is something that may go now.
    func isReady(at now: Instant) -> Bool { !entries.isEmpty || delayed.first.map { $0.at <= now } ?? false }

    /// When the next of those that wait for their time may go.
    var nextMoment: Instant? { delayed.first?.at }
}
