package import DequeModule

/// Whose turn it is: the peers take turns, and so do the members of each peer, such as its connections.
///
/// A peer with a thousand members gets as many turns as a peer with one. Newcomers, of whom nobody waited before, can have
/// every other turn: who asks for one thing at a time then waits for one long thing of the others, not for one of each. A
/// pure value. Its code goes into the modules that use it: unspecialized, a turn costs them 5,000 instructions.
package struct Ring<Peer: Hashable, Member> {
    @usableFromInline var order = Deque<Peer>()
    /// Peers that have had no turn since they wait, if they come first.
    @usableFromInline var newcomers = Deque<Peer>()
    @usableFromInline var members: [Peer: Deque<Member>] = [:]
    @usableFromInline let newcomersFirst: Bool
    /// Whether the last turn was a newcomer's, while others waited.
    @usableFromInline var hasJumped = false
    @usableFromInline var waiting = 0
    /// How many members wait for their turn.
    @inlinable
    package var count: Int { waiting }

    /// A ring in which nobody waits.
    /// - Parameter newcomersFirst: whether every other turn is for peers that have had none since they wait.
    @inlinable
    package init(newcomersFirst: Bool = false) { self.newcomersFirst = newcomersFirst }

    /// Whether nobody waits.
    @inlinable
    package var isEmpty: Bool { count == 0 }

    /// A member waits for a turn, after the others of its peer; a peer that has not waited comes after the others.
    @inlinable
    package mutating func append(_ member: Member, of peer: Peer) {
        waiting += 1
        guard members[peer]?.append(member) == nil else { return }
        members[peer] = [member]
        if newcomersFirst { newcomers.append(peer) } else { order.append(peer) }
    }

    /// The member whose turn it is, which no longer waits. Its peer is the last one now.
    @inlinable
    package mutating func next() -> Member? {
        let jumps = !newcomers.isEmpty && (order.isEmpty || !hasJumped)
        hasJumped = jumps && !order.isEmpty
        guard let peer = jumps ? newcomers.popFirst() : order.popFirst() else { return nil }
        return take(of: peer)
    }

    @inlinable
    mutating func take(of peer: Peer) -> Member? {
        guard let member = members[peer]?.popFirst() else { return nil }
        waiting -= 1
        if members[peer]?.isEmpty == true {
            members[peer] = nil
        } else {
            order.append(peer)
        }
        return member
    }

    /// The member whose turn it is among the peers that fit, for whom there is room while there is none for others.
    @inlinable
    package mutating func next(where fits: (Peer) -> Bool) -> Member? {
        let found = order.firstIndex(where: fits)
        if let index = newcomers.firstIndex(where: fits), found == nil || !hasJumped {
            hasJumped = found != nil
            return take(of: newcomers.remove(at: index))
        }
        hasJumped = false
        return found.flatMap { take(of: order.remove(at: $0)) }
    }

    /// The peers whose next member fits.
    @inlinable
    package func peers(whoseNext fits: (Member) -> Bool) -> Set<Peer> {
        Set(members.filter { $0.value.first.map(fits) ?? false }.keys)
    }

    /// Whether one of the peers that wait fits.
    @inlinable
    package func contains(where fits: (Peer) -> Bool) -> Bool {
        newcomers.contains(where: fits) || order.contains(where: fits)
    }

    /// Those that fit no longer wait.
    @inlinable
    package mutating func removeAll(of peer: Peer, where fits: (Member) -> Bool) {
        guard var left = members[peer] else { return }
        left.removeAll(where: fits)
        waiting -= (members[peer]?.count ?? 0) - left.count
        members[peer] = left.isEmpty ? nil : left
        guard left.isEmpty else { return }
        order.removeAll { $0 == peer }
        newcomers.removeAll { $0 == peer }
    }
}

extension Ring: Sendable where Peer: Sendable, Member: Sendable {}
