package import Concurrency
import JSON
import Synchronization

/// The memory that the daemon keeps for its peers: unfinished lines, waiting calls, answers that nobody has read yet,
/// subscriptions and handlers. A peer is a user of this device or of a gateway. Each has a share.
public final class PeerMemory: Sendable {
    private let budget: Mutex<Budget<Owner>>
    /// What all peers use: read without the lock, because while it is little nobody has used up a share.
    private let total = Atomic<Int>(0)
    /// What has been given back since the allocator was last asked to free memory.
    private let freed = Atomic<Int>(0)
    private let limit: Atomic<Int>
    private let ownUID: UInt32

    /// What any peer may use, however much the others do.
    private static let minimum = 64 << 10

    /// - Parameters:
    ///   - limits: has the budget. It is at least twice the longest line and the output of a client that does not read.
    ///   - ownUID: the uid of the daemon's user.
    public init(limits: Limits, ownUID: UInt32) {
        let bytes = Self.bytes(limits)
        limit = Atomic(bytes)
        budget = Mutex(Budget(limit: bytes, minimum: Self.minimum))
        self.ownUID = ownUID
    }

    private static func bytes(_ limits: Limits) -> Int {
        max(limits.keptBytes, 2 * limits.lineBytes, 2 * limits.replyBytes)
    }

    /// Who then uses more than its share keeps it, and gets no more.
    func replaceLimit(_ limits: Limits) {
        let bytes = Self.bytes(limits)
        limit.store(bytes, ordering: .relaxed)
        budget.withLock { $0.limit = bytes }
    }

    /// How much of the limits a caller may use.
    package func share(of caller: Caller) -> Share { caller.share(ownUID: ownUID) }

    /// Counts bytes that are kept for a caller; negative ones no longer are.
    public func add(_ bytes: Int, for caller: Caller) {
        guard bytes != 0 else { return }
        let peer = caller.owner
        total.add(bytes, ordering: .relaxed)
        if bytes < 0 { freed.add(-bytes, ordering: .relaxed) }
        budget.withLock { $0.add(bytes, to: peer) }
    }

    /// Counts bytes for a caller if it may have them.
    public func take(_ bytes: Int, for caller: Caller) -> Bool {
        let (peer, share) = (caller.owner, share(of: caller))
        guard budget.withLock({ $0.take(bytes, for: peer, share) }) else { return false }
        total.add(bytes, ordering: .relaxed)
        return true
    }

    /// Whether a caller has used its share, so that nothing more must be read for it.
    public func isUsedUp(by caller: Caller) -> Bool {
        guard total.load(ordering: .relaxed) > limit.load(ordering: .relaxed) / 8 else { return false }
        let (peer, share) = (caller.owner, share(of: caller))
        return budget.withLock { $0.isUsedUp(by: peer, share) }
    }

    /// Whether a caller may have so many bytes more.
    /// - Parameter share: its share, where that is not the usual one.
    package func has(_ bytes: Int, for caller: Caller, _ share: Share? = nil) -> Bool {
        guard total.load(ordering: .relaxed) + bytes > limit.load(ordering: .relaxed) / 8 else { return true }
        let (peer, share) = (caller.owner, share ?? self.share(of: caller))
        return budget.withLock { $0.has(bytes, for: peer, share) }
    }

    /// Whether much has been given back since this was true last, so that the allocator has memory to free.
    public func takeFreed() -> Bool {
        let bytes = freed.load(ordering: .relaxed)
        guard bytes > 1 << 20 else { return false }
        freed.subtract(bytes, ordering: .relaxed)
        return true
    }

    /// `overloaded`, for a caller that has used its share.
    public func refusal(of what: String, for caller: Caller) -> CommandError {
        let used = budget.withLock { $0.used(by: caller.owner) }
        return CommandError(
            .overloaded,
            "\(what): the daemon keeps \(used >> 10) KiB for this user already; read replies, or end calls and subscriptions"
        )
    }

    /// Who uses how much.
    public struct Use: Sendable {
        /// The budget, in bytes.
        public var limit: Int
        /// What all peers use, in bytes.
        public var used: Int
        /// The peers that use the most, the first one most of all.
        public var largest: [(peer: Owner, used: Int)]
    }

    /// Who uses how much now.
    public var use: Use {
        budget.withLock { Use(limit: $0.limit, used: $0.used, largest: $0.largest(8)) }
    }
}

extension Caller {
    /// How much of what is shared by all it may use: scripts half, because they are many programs of one user; root and
    /// the daemon's own user all of it; others a quarter.
    /// - Parameter ownUID: the uid of the daemon's user.
    package func share(ownUID: UInt32) -> Share {
        if isPrivileged(ownUID: ownUID) { return .whole }
        guard case .peer = origin, let userName else { return .quarter }
        return ByteName(userName) == ByteName(Self.scriptUser) ? .half : .quarter
    }

    /// The user that runs the scripts of a device.
    public static let scriptUser = "quickconnect-scripts"
}
