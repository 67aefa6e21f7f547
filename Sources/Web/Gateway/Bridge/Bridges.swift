/// The connected pages. For use on their event loop only.
final class Bridges {
    private var connections: [ObjectIdentifier: PageConnection] = [:]
    var isEmpty: Bool { connections.isEmpty }
    var count: Int { connections.count }
    /// Called when the last one has ended.
    var emptied: () -> Void = {}

    func add(_ connection: PageConnection) {
        connections[ObjectIdentifier(connection)] = connection
        connection.ended = { [weak self] connection in
            guard let self else { return }
            connections[ObjectIdentifier(connection)] = nil
            if connections.isEmpty { emptied() }
        }
    }

    func count(ofSession key: String) -> Int { connections.values.count { $0.session == key } }

    func close(sessions keys: Set<String>) {
        for connection in connections.values where keys.contains(connection.session) {
            connection.close(.policy, "the session has ended; log in again")
        }
    }

    func closeAll() { for connection in connections.values { connection.close(.goingAway, "the gateway stops") } }

    func sendAll(_ line: String) { for connection in connections.values { connection.send(line) } }
}
