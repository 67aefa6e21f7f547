internal import Concurrency
internal import NIOCore

/// What the gateway keeps in memory for its peers, in bytes: bodies, unfinished messages, answers and frames that are
/// not read yet. For use on the event loop only.
final class Holdings {
    private let loop: any EventLoop
    private(set) var budget: Budget<WebPeer>
    /// For each peer at its share the one connection that may go on with a message that it has begun: otherwise its
    /// connections could all wait for each other.
    private var exceptions: [WebPeer: ObjectIdentifier] = [:]
    private var waiting: [ObjectIdentifier: () -> Void] = [:]
    private var isScheduled = false

    /// The limit on what all peers use together.
    static let limit = 32 << 20
    /// What each peer may use in any case.
    private static let minimum = 64 << 10
    private static let pause = TimeAmount.milliseconds(1)
    /// What was used at most since the memory was last given back to the system.
    private var peak = 0
    private let trim: () -> Void
    private var willTrim = false
    private static let trimTime = TimeAmount.seconds(2)
    private static let highMark = 4 << 20
    private static let lowMark = 1 << 20

    /// - Parameter trim: gives freed memory back to the system.
    init(_ loop: any EventLoop, trim: @escaping () -> Void) {
        self.loop = loop
        self.trim = trim
        budget = Budget(limit: Self.limit, minimum: Self.minimum)
    }

    func take(_ count: Int, for peer: WebPeer) -> Bool {
        defer { peak = max(peak, budget.used) }
        return budget.take(count, for: peer)
    }

    /// Counts what is there already, or gives it back if negative.
    func add(_ count: Int, to peer: WebPeer) {
        budget.add(count, to: peer)
        peak = max(peak, budget.used)
        guard count < 0 else { return }
        resume()
        guard peak > Self.highMark, budget.used < Self.lowMark else { return }
        peak = 0
        trimLater()
    }

    /// Frees memory some time after much has been given back, such as what NIO kept for a page that is gone.
    func trimLater() {
        guard !willTrim else { return }
        willTrim = true
        loop.assumeIsolated().scheduleTask(in: Self.trimTime) {
            self.willTrim = false
            self.trim()
        }
    }

    func isUsedUp(by peer: WebPeer) -> Bool { budget.isUsedUp(by: peer) }

    /// Whether all peers together use more than the limit.
    var isOver: Bool { budget.used > Self.limit }

    /// Whether nobody uses more than this peer.
    func isLargest(_ peer: WebPeer) -> Bool {
        budget.largest(1).first.map { budget.used(by: peer) >= $0.used } ?? true
    }

    /// Whether a connection may be read, and how far.
    enum Permit {
        case all
        /// The peer's share is used up, and this connection alone may end what it has begun.
        case rest
        case none
    }

    /// Whether a connection may be read now.
    /// - Parameter hasBegun: whether there is a part of a message that can be completed.
    func permit(_ connection: AnyObject, of peer: WebPeer, hasBegun: Bool) -> Permit {
        let id = ObjectIdentifier(connection)
        guard isUsedUp(by: peer) else {
            exceptions[peer] = nil
            return .all
        }
        guard hasBegun else {
            giveUpException(id, of: peer)
            return .none
        }
        if exceptions[peer] == nil { exceptions[peer] = id }
        return exceptions[peer] == id ? .rest : .none
    }

    /// Another connection of the peer may have it.
    private func giveUpException(_ id: ObjectIdentifier, of peer: WebPeer) {
        guard exceptions[peer] == id else { return }
        exceptions[peer] = nil
        resume()
    }

    /// Calls `resume` as soon as something has been given back.
    func wait(_ connection: AnyObject, _ resume: @escaping () -> Void) {
        waiting[ObjectIdentifier(connection)] = resume
    }

    /// A connection has ended.
    func end(_ connection: AnyObject, of peer: WebPeer) {
        let id = ObjectIdentifier(connection)
        waiting[id] = nil
        giveUpException(id, of: peer)
        resume()
    }

    private func resume() {
        guard !waiting.isEmpty, !isScheduled else { return }
        isScheduled = true
        loop.assumeIsolated().scheduleTask(in: Self.pause) {
            self.isScheduled = false
            let waiting = self.waiting
            self.waiting = [:]
            for resume in waiting.values { resume() }
        }
    }
}

/// What one connection keeps. It gives everything back when it ends.
final class Holding {
    private let holdings: Holdings
    private(set) var count = 0
    private var hasEnded = false
    /// Whom it counts for.
    var peer: WebPeer {
        didSet {
            guard peer != oldValue, count > 0 else { return }
            holdings.add(-count, to: oldValue)
            holdings.add(count, to: peer)
        }
    }

    init(_ holdings: Holdings, _ peer: WebPeer) {
        self.holdings = holdings
        self.peer = peer
    }

    var isUsedUp: Bool { holdings.isUsedUp(by: peer) }

    /// Takes more if the peer may have it.
    func take(_ count: Int) -> Bool {
        guard !hasEnded, holdings.take(count, for: peer) else { return false }
        self.count += count
        return true
    }

    /// Counts what is there already, or gives it back if negative.
    func add(_ count: Int) {
        guard !hasEnded, count != 0 else { return }
        self.count += count
        holdings.add(count, to: peer)
    }

    /// Counts one thing that was `old` and is `new` now.
    func change(_ old: inout Int, to new: Int) {
        add(new - old)
        old = new
    }

    func end() {
        guard !hasEnded else { return }
        holdings.add(-count, to: peer)
        (count, hasEnded) = (0, true)
    }
}
