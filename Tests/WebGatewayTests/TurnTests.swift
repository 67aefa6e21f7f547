import NIOCore
import NIOEmbedded
import Testing

@testable import WebGateway

@Suite("Turns on the event loop")
struct TurnTests {
    /// Works as long as it may, once.
    private final class Busy: Worker {
        let peer: WebPeer
        var isWaiting = false
        private let log: Log

        init(_ peer: WebPeer, _ log: Log) {
            self.peer = peer
            self.log = log
        }

        func work(until end: NIODeadline) -> Bool {
            while NIODeadline.now() < end {}
            log.peers.append(peer)
            return false
        }
    }

    private final class Log { var peers: [WebPeer] = [] }

    @Test func `many connections of one peer that are readable at once do not go before all others`() {
        let loop = EmbeddedEventLoop()
        let turns = Turns(loop)
        let log = Log()
        let many = (0..<200).map { _ in Busy(.user("ann"), log) }
        let other = Busy(.user("bob"), log)
        // What one poll finds.
        for worker in many + [other] { turns.begin(worker) }
        #expect(!log.peers.isEmpty && log.peers.count < 150, "\(log.peers.count) at once")
        #expect(!log.peers.contains(.user("bob")))
        let before = log.peers.count
        loop.advanceTime(by: .milliseconds(1))
        let place = log.peers.firstIndex(of: .user("bob")) ?? .max
        #expect(place <= before + 1)
        while many.contains(where: \.isWaiting) { loop.advanceTime(by: .milliseconds(1)) }
        #expect(log.peers.count == 201)
    }
}
