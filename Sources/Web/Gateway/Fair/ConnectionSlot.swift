internal import Concurrency
internal import NIOCore

/// A browser's connection, as the ``WebListener`` counts it.
final class ConnectionSlot {
    let channel: any Channel
    let holding: Holding
    /// For whom it counts: an address until the head of a request says who it is.
    fileprivate(set) var peer: WebPeer
    /// No request is under way, and no page is open.
    var isIdle = true

    init(_ channel: any Channel, _ holding: Holding) {
        self.channel = channel
        self.holding = holding
        peer = holding.peer
    }
}

/// Which connections there are, and who has to close one for a newcomer. A quarter is the share of each address before
/// log-in, and of each user after that; a reverse proxy, which names its clients later, may have all.
///
/// Of a user only idle connections make room. Those of strangers do so whatever they are doing, the oldest first: who
/// means to keep all places with requests that never end keeps none, and a newcomer has the time that it takes to open
/// as many connections as an address may have.
struct ConnectionSlots {
    enum Entry {
        case enters
        /// This one is closed for it.
        case replaces(ConnectionSlot)
        case refused
    }

    let limit: Int
    private(set) var count = 0
    /// In the order in which they came.
    private(set) var peers: [WebPeer: [ConnectionSlot]] = [:]

    /// What a Unix socket's connections count for until they name their client.
    static let proxy = WebPeer.address("proxy")

    init(limit: Int) { self.limit = limit }

    private func share(of peer: WebPeer) -> Int { peer == Self.proxy ? limit : Share.quarter.part(of: limit) }

    /// Takes a new connection in, if there is room.
    mutating func enter(_ slot: ConnectionSlot) -> Entry {
        if isAtShare(slot.peer) { return replace(replaceable(of: slot.peer), by: slot) }
        guard count >= limit else {
            add(slot)
            return .enters
        }
        return replace(replaceableOfLargest(), by: slot)
    }

    /// The connection now counts for another peer, which may have to close another one.
    mutating func move(_ slot: ConnectionSlot, to peer: WebPeer) -> Entry {
        guard peer != slot.peer else { return .enters }
        let old = isAtShare(peer) ? replaceable(of: peer) : nil
        guard old != nil || !isAtShare(peer) else { return .refused }
        remove(slot)
        slot.peer = peer
        guard let old else {
            add(slot)
            return .enters
        }
        return replace(old, by: slot)
    }

    private func isAtShare(_ peer: WebPeer) -> Bool { (peers[peer]?.count ?? 0) >= share(of: peer) }

    private func replaceable(of peer: WebPeer) -> ConnectionSlot? {
        switch peer {
        case .address: peers[peer]?.first
        case .user: peers[peer]?.first { $0.isIdle }
        }
    }

    /// All is in use: of those who can make room, whoever has the most does.
    private func replaceableOfLargest() -> ConnectionSlot? {
        peers.compactMap { peer, own in replaceable(of: peer).map { (slot: $0, count: own.count) } }
            .max { $0.count < $1.count }?.slot
    }

    private mutating func replace(_ old: ConnectionSlot?, by slot: ConnectionSlot) -> Entry {
        guard let old else { return .refused }
        remove(old)
        add(slot)
        return .replaces(old)
    }

    private mutating func add(_ slot: ConnectionSlot) {
        peers[slot.peer, default: []].append(slot)
        count += 1
    }

    /// It is closed.
    mutating func remove(_ slot: ConnectionSlot) {
        guard let index = peers[slot.peer]?.firstIndex(where: { $0 === slot }) else { return }
        peers[slot.peer]?.remove(at: index)
        if peers[slot.peer]?.isEmpty == true { peers[slot.peer] = nil }
        count -= 1
    }
}
