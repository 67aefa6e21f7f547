import Concurrency
import DequeModule
import QuickConnect
import QuickConnectClient

/// The calls from the broker that have not begun. The callers take turns; those of one caller begin in the order in which
/// they came, also where another thread reads a long payload or writes what is kept of them. A value; the owner asks the
/// threads.
struct CallQueue {
    /// A call, or its refusal.
    struct Item: Sendable {
        var call: IncomingCall
        var key: CallKey?
        /// What has not been read of it yet.
        var payload: [UInt8] = []
        /// Why it is not done.
        var error: CommandError?

        /// Reads the payload.
        mutating func read() {
            guard !payload.isEmpty, error == nil else { return }
            switch CallReader.body(payload) {
            case .success(let message): call.message = message
            case .failure(let problem): error = problem
            }
            payload = []
        }
    }

    /// Calls of one caller that go on together.
    struct Batch {
        let caller: String
        var items: [Item]
    }

    private struct Caller {
        var items: Deque<Item> = []
        /// Whether a batch is at another thread.
        var isAway = false
    }

    private var callers: [String: Caller] = [:]
    private var turns = Ring<String, String>()

    /// The most calls of a batch.
    static let maxBatch = 16
    /// A longer payload is read by another thread.
    static let longPayload = 65_536

    /// Whether a batch can go on.
    var isReady: Bool { !turns.isEmpty }
    /// Whether there are no calls, here or away.
    var isEmpty: Bool { callers.isEmpty }

    mutating func append(_ item: Item, of caller: String) {
        let isFirst = callers[caller]?.items.isEmpty ?? true
        callers[caller, default: Caller()].items.append(item)
        if isFirst, callers[caller]?.isAway == false { turns.append(caller, of: caller) }
    }

    /// The calls whose turn it is: as many as need no other thread, or up to one with a long payload.
    mutating func next() -> Batch? {
        guard let caller = turns.next(), var line = callers[caller] else { return nil }
        var items: [Item] = []
        while items.count < Self.maxBatch, let item = line.items.popFirst() {
            items.append(item)
            if item.payload.count > Self.longPayload { break }
        }
        line.isAway = true
        callers[caller] = line
        return Batch(caller: caller, items: items)
    }

    /// A batch of that caller is over: the next one may go on.
    mutating func isOver(_ caller: String) {
        guard var line = callers[caller], line.isAway else { return }
        line.isAway = false
        callers[caller] = line.items.isEmpty ? nil : line
        if !line.items.isEmpty { turns.append(caller, of: caller) }
    }
}
