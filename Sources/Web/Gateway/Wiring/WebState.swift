internal import Concurrency
internal import JSON

/// What `web ["state"]` answers: who holds how much, and what is wrong. For use on its event loop only.
struct WebState {
    let doorkeeper: Authenticator
    let bridges: Bridges
    let holdings: Holdings
    let entrance: WebListener

    /// So many peers are named.
    private static let maxPeers = 10

    /// `{connections, connectionLimit, pages, bytes, byteLimit, peers: [{peer, connections, bytes}], problems}`, the
    /// peers with the most connections first.
    var json: JSONValue {
        let slots = entrance.slots
        let largest = slots.peers.sorted { $0.value.count > $1.value.count }.prefix(Self.maxPeers)
        return [
            "connections": .integer(Int64(slots.count)), "connectionLimit": .integer(Int64(slots.limit)),
            "pages": .integer(Int64(bridges.count)), "bytes": .integer(Int64(holdings.budget.used)),
            "byteLimit": .integer(Int64(Holdings.limit)),
            "peers": .array(
                largest.map { peer, own in
                    [
                        "peer": .string(peer.words), "connections": .integer(Int64(own.count)),
                        "bytes": .integer(Int64(holdings.budget.used(by: peer))),
                    ]
                }
            ),
            "problems": .array(doorkeeper.problems.map { .string($0) }),
        ]
    }
}
