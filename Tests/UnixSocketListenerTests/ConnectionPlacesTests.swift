import Concurrency
import QuickConnect
import Testing

@testable import quickconnectd

@Suite("Who gets the places of a socket")
struct ConnectionPlacesTests {
    private let ann = Owner(uid: 1)
    private let bob = Owner(uid: 2)
    private let scripts = Owner(uid: 3)
    private let root = Owner(uid: 0)

    private func places(_ limit: Int, _ taken: [(Owner, Int)]) -> ConnectionPlaces {
        var places = ConnectionPlaces(limit: limit)
        for (peer, count) in taken { for _ in 0..<count { places.add(peer) } }
        return places
    }

    @Test("a user gets a quarter, scripts half, and then one of their own has to go")
    func shares() {
        #expect(places(100, [(ann, 24)]).verdict(on: ann, .quarter) == .taken)
        #expect(places(100, [(ann, 25)]).verdict(on: ann, .quarter) == .takenIfFreed(by: ann))
        #expect(places(100, [(scripts, 49)]).verdict(on: scripts, .half) == .taken)
        #expect(places(100, [(scripts, 50)]).verdict(on: scripts, .half) == .takenIfFreed(by: scripts))
    }

    @Test("eight places are left for root and the daemon's user")
    func kept() {
        let full = places(100, [(ann, 23), (bob, 23), (scripts, 46)])
        #expect(full.verdict(on: Owner(uid: 9), .quarter) == .takenIfFreed(by: scripts))
        #expect(full.verdict(on: root, .whole) == .taken)
        let whole = places(100, [(ann, 25), (bob, 25), (scripts, 42), (root, 8)])
        #expect(whole.verdict(on: root, .whole) == .refused)
    }

    @Test("nobody loses a place to a user who has as many")
    func equal() {
        let full = places(40, [(ann, 8), (bob, 8), (scripts, 8), (root, 8)])
        #expect(full.verdict(on: ann, .quarter) == .refused)
        #expect(full.verdict(on: Owner(uid: 9), .quarter) != .taken)
    }

    @Test("where there are few places, there are no shares")
    func few() {
        #expect(places(2, [(ann, 1)]).verdict(on: ann, .quarter) == .taken)
        #expect(places(2, [(ann, 2)]).verdict(on: ann, .quarter) == .refused)
        #expect(places(2, [(ann, 2)]).verdict(on: bob, .quarter) == .refused)
    }

    @Test("a place that is given up is free")
    func freed() {
        var places = places(100, [(ann, 25)])
        places.remove(ann)
        #expect(places.count == 24)
        #expect(places.verdict(on: ann, .quarter) == .taken)
    }
}
