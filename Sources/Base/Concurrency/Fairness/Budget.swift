/// What a process keeps for its peers, such as bytes of unfinished lines and of answers that nobody has read yet, and how
/// much more each may have.
///
/// A pure value: who owns it counts what it keeps, and asks before it takes more.
package struct Budget<Peer: Hashable> {
    /// The limit on what all peers use together.
    package var limit: Int
    /// What any peer may use, however much the others do.
    package let minimum: Int
    @usableFromInline var counted = 0
    /// What all peers use now.
    @inlinable
    package var used: Int { counted }
    @usableFromInline var peers: [Peer: Int] = [:]

    /// A budget of which nothing is used.
    @inlinable
    package init(limit: Int, minimum: Int = 0) {
        self.limit = limit
        self.minimum = minimum
    }

    /// What a peer uses now.
    @inlinable
    package func used(by peer: Peer) -> Int { peers[peer] ?? 0 }

    /// The peers that use the most, the first one most of all.
    @inlinable
    package func largest(_ count: Int) -> [(peer: Peer, used: Int)] {
        Array(peers.sorted { $0.value > $1.value }.prefix(count)).map { (peer: $0.key, used: $0.value) }
    }

    /// Whether a peer has used its share, so that it must not be read any more.
    @inlinable
    package func isUsedUp(by peer: Peer, _ share: Share = .quarter) -> Bool {
        let own = used(by: peer)
        return own > minimum && own >= share.part(whereFree: limit - used)
    }

    /// Whether a peer may take so much more. Who uses nothing may take all that is free: one reply may be as large as the
    /// budget, one after another.
    @inlinable
    package func has(_ amount: Int, for peer: Peer, _ share: Share = .quarter) -> Bool {
        let own = used(by: peer)
        if own + amount <= minimum { return true }
        guard own > 0 else { return amount <= limit - used }
        return own + amount <= share.part(whereFree: limit - used - amount)
    }

    /// Takes so much for a peer if it may have it.
    @inlinable
    package mutating func take(_ amount: Int, for peer: Peer, _ share: Share = .quarter) -> Bool {
        guard has(amount, for: peer, share) else { return false }
        add(amount, to: peer)
        return true
    }

    /// Counts what a peer uses more, or less if `amount` is negative. For what is there already, which can only be
    /// counted.
    @inlinable
    package mutating func add(_ amount: Int, to peer: Peer) {
        guard amount != 0 else { return }
        let own = used(by: peer) + amount
        peers[peer] = own == 0 ? nil : own
        counted += amount
    }
}

extension Budget: Sendable where Peer: Sendable {}
