import NIOCore
import QuickConnect

/// What the end of a connection leaves to do, a step after the other.
final class ConnectionEnd {
    let peer: Owner
    let loop: any EventLoop
    /// The next one last.
    private var steps: Connection.Steps

    init(_ steps: Connection.Steps, of peer: Owner, on loop: any EventLoop) {
        self.steps = steps.reversed()
        self.peer = peer
        self.loop = loop
    }

    func add(_ more: Connection.Steps) { steps.insert(contentsOf: more.reversed(), at: 0) }

    /// - Returns: whether all is done.
    func work(until end: NIODeadline) -> Bool {
        while let step = steps.popLast() {
            step()
            if .now() >= end { break }
        }
        return steps.isEmpty
    }
}
