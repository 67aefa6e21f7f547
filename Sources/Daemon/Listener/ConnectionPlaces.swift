import Fairness
import QuickConnect

/// Who has how many of the places of one socket. A value without I/O.
///
/// A peer has a share of them, and a few are kept for root and the daemon's user. A peer that has its share gets one more
/// by losing one that is idle; where all places are taken, the peer with the most loses one.
struct ConnectionPlaces {
    /// What a newcomer gets.
    enum Verdict: Equatable {
        case taken
        /// There is a place if this peer loses an idle connection.
        case takenIfFreed(by: Owner)
        case refused
    }

    var limit: Int
    private(set) var count = 0
    private var peers: [Owner: Int] = [:]

    /// Places that only root and the daemon's user take.
    private static let kept = 8

    init(limit: Int) { self.limit = limit }

    /// Where there are few places, a share would be none, and those who come are few.
    private var hasShares: Bool { limit >= 4 * Self.kept }

    func verdict(on peer: Owner, _ share: Share) -> Verdict {
        if share == .whole || !hasShares { return count < limit ? .taken : .refused }
        guard peers[peer, default: 0] < share.part(of: limit) else { return .takenIfFreed(by: peer) }
        if count < limit - Self.kept { return .taken }
        guard let most = peers.max(by: { $0.value < $1.value }), most.value > peers[peer, default: 0] + 1 else {
            return .refused
        }
        return .takenIfFreed(by: most.key)
    }

    mutating func add(_ peer: Owner) {
        count += 1
        peers[peer, default: 0] += 1
    }

    mutating func remove(_ peer: Owner) {
        count -= 1
        let left = peers[peer, default: 1] - 1
        peers[peer] = left == 0 ? nil : left
    }
}
