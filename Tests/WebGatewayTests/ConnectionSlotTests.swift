import NIOCore
import NIOEmbedded
import Testing

@testable import WebGateway

/// Who has to close a connection for a newcomer.
@Suite("Places for connections")
struct ConnectionSlotTests {
    private let channel = EmbeddedChannel()
    private let holdings: Holdings

    init() { holdings = Holdings(channel.eventLoop) {} }

    private func slot(_ peer: WebPeer) -> ConnectionSlot { ConnectionSlot(channel, Holding(holdings, peer)) }

    private func replaced(_ entry: ConnectionSlots.Entry) -> ConnectionSlot? {
        if case .replaces(let slot) = entry { slot } else { nil }
    }

    private func enters(_ entry: ConnectionSlots.Entry) -> Bool { if case .enters = entry { true } else { false } }

    private func isRefused(_ entry: ConnectionSlots.Entry) -> Bool { if case .refused = entry { true } else { false } }

    @Test(arguments: [
        ("127.0.0.1", "127.0.0.1"), ("127.8.9.10", "127.0.0.1"), ("::1", "127.0.0.1"),
        ("::ffff:127.0.0.2", "127.0.0.1"), ("192.0.2.1", "192.0.2.1"), ("::ffff:192.0.2.1", "192.0.2.1"),
        ("2001:db8:0:1::1", "2001:db8:0:1::/64"), ("2001:db8:0:1:ffff:ffff:ffff:ffff", "2001:db8:0:1::/64"),
        ("proxy 192.0.2.1", "proxy 192.0.2.1"), ("proxy 2001:db8::7", "proxy 2001:db8::/64"), ("proxy ", "proxy "),
        ("proxy unknown", "proxy unknown"), ("1.2.3", "1.2.3"),
    ])
    func `who has one address of a network may have all of them`(address: String, words: String) {
        #expect(WebPeer.stranger(at: address) == .address(words))
    }

    @Test func `strangers make room for those of their address, whatever they are doing`() {
        var slots = ConnectionSlots(limit: 8)
        let own = (0..<2).map { _ in slot(.address("a")) }
        for slot in own {
            #expect(enters(slots.enter(slot)))
            slot.isIdle = false
        }
        let next = slot(.address("a"))
        #expect(replaced(slots.enter(next)) === own[0])
        #expect(replaced(slots.enter(slot(.address("a")))) === own[1])
        #expect(slots.count == 2)
        // A user that logs in leaves its place.
        #expect(enters(slots.move(next, to: .user("ann"))))
        #expect(enters(slots.enter(slot(.address("a")))))
        #expect(slots.count == 3 && slots.peers[.user("ann")]?.count == 1)
    }

    @Test func `a user's connections make room only if they are idle`() {
        var slots = ConnectionSlots(limit: 8)
        let own = (0..<2).map { _ in slot(.user("ann")) }
        for slot in own { #expect(enters(slots.enter(slot))) }
        own[0].isIdle = false
        let third = slot(.address("a"))
        #expect(enters(slots.enter(third)))
        #expect(replaced(slots.move(third, to: .user("ann"))) === own[1])
        third.isIdle = false
        let fourth = slot(.address("a"))
        #expect(enters(slots.enter(fourth)))
        #expect(isRefused(slots.move(fourth, to: .user("ann"))))
        #expect(slots.count == 3)
    }

    @Test func `when all places are in use, the largest peer that can makes room`() {
        var slots = ConnectionSlots(limit: 8)
        for name in ["ann", "bob", "carl"] {
            for _ in 0..<2 {
                let slot = slot(.user(name))
                slot.isIdle = false
                #expect(enters(slots.enter(slot)))
            }
        }
        let strangers = (0..<2).map { slot(.address("\($0)")) }
        for slot in strangers {
            #expect(enters(slots.enter(slot)))
            slot.isIdle = false
        }
        #expect(slots.count == 8)
        let out = replaced(slots.enter(slot(.address("new"))))
        #expect(out === strangers[0] || out === strangers[1])
        #expect(slots.count == 8)
        // Nobody can.
        var full = ConnectionSlots(limit: 1)
        let page = slot(.user("ann"))
        page.isIdle = false
        #expect(enters(full.enter(page)) && isRefused(full.enter(slot(.address("a")))))
    }
}
