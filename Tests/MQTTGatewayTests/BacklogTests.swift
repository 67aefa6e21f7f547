import TestRig
import Testing

@testable import MQTT

@Suite("What waits for the broker")
struct BacklogTests {
    private let now = ContinuousClock.now

    private func message(_ topic: String, _ text: String) -> MQTTMessage { MQTTMessage(topic, Array(text.utf8)) }

    private func all(_ backlog: inout Backlog, at moment: ContinuousClock.Instant? = nil) -> [String] {
        var texts: [String] = []
        while let next = backlog.next(at: moment ?? now) {
            texts.append(String(decoding: next.message.payload, as: UTF8.self))
        }
        return texts
    }

    @Test func `messages go in their order, and of a sensor the newest`() {
        var backlog = Backlog(messages: 10, bytes: 1 << 20)
        for (topic, text, kind) in [
            ("accel", "1", .newest(key: "")), ("bell", "2", .event), ("accel", "3", .newest(key: "")),
            ("bell", "4", .event),
            ("state", "5", .state), ("reply", "6", .reply(of: "ping", to: "ann")), ("state", "7", .state),
        ] as [(String, String, Backlog.Kind)] { backlog.add(message(topic, text), kind) }
        #expect(backlog.count == 5)
        let taken = all(&backlog)
        #expect(taken == ["3", "2", "4", "7", "6"] && backlog.isEmpty && backlog.bytes == 0)
    }

    @Test func `progress replaces progress, and no change of state`() {
        var backlog = Backlog(messages: 10, bytes: 1 << 20)
        for (text, key) in [("a1", "a"), ("a2", "a"), ("b", "b"), ("a3", "a")] {
            backlog.add(message("play", text), .newest(key: key))
        }
        let taken = all(&backlog)
        #expect(taken == ["a2", "b", "a3"])
    }

    @Test func `where there is no room the oldest events are left out, and no answer`() {
        var backlog = Backlog(messages: 4, bytes: 1 << 20)
        backlog.add(message("reply", "r1"), .reply(of: "ping", to: "ann"))
        for number in 1...5 { backlog.add(message("bell", "\(number)"), .event) }
        backlog.add(message("state", "s"), .state)
        #expect(backlog.isFull && backlog.droppedEvents == 3 && backlog.droppedReplies == 0)
        let taken = all(&backlog)
        #expect(taken == ["r1", "4", "5", "s"])
    }

    @Test func `the answers of callers take turns, in the places of answers`() {
        var backlog = Backlog(messages: 100, bytes: 1 << 20)
        for number in 1...4 { backlog.add(message("reply", "b\(number)"), .reply(of: "ping", to: "bob")) }
        backlog.add(message("bell", "event"), .event)
        backlog.add(message("reply", "a1"), .reply(of: "ping", to: "ann"))
        #expect(backlog.next(at: now)?.message.payload == Array("b1".utf8))
        backlog.putBack(message("reply", "b1"), .reply(of: "ping", to: "bob"))
        let taken = all(&backlog)
        #expect(taken == ["b1", "a1", "b2", "b3", "event", "b4"] && backlog.isEmpty && backlog.bytes == 0)
    }

    @Test func `answers have as much room again, and no more`() {
        var backlog = Backlog(messages: 3, bytes: 1 << 20)
        for number in 1...8 { backlog.add(message("reply", "\(number)"), .reply(of: "ping", to: "ann")) }
        #expect(backlog.droppedReplies == 2 && backlog.isFull)
        let taken = all(&backlog)
        #expect(taken == ["1", "2", "3", "4", "5", "6"])
        var small = Backlog(messages: 100, bytes: 1000)
        for _ in 1...20 { small.add(message("bell", String(repeating: "x", count: 100)), .event) }
        #expect(small.bytes <= 1000 && small.droppedEvents > 10)
    }

    @Test func `of calls that were done no answer is dropped for its caller's others`() {
        var backlog = Backlog(messages: 100, bytes: 1 << 20)
        for number in 1...190 { backlog.add(message("reply", "\(number)"), .reply(of: "ping", to: "ann")) }
        #expect(backlog.count == 190 && backlog.droppedReplies == 0)
    }

    @Test func `one caller's refusals leave room for others' answers`() {
        var backlog = Backlog(messages: 100, bytes: 1 << 20)
        func add(_ caller: String, _ data: Int = 0) {
            let message = MQTTMessage("reply", [], correlationData: [UInt8](repeating: 0, count: data))
            backlog.add(message, .reply(of: "ping", to: caller, isRefusal: true))
        }
        for _ in 1...49 { add("ann") }
        #expect(!backlog.isFull(for: "ann"))
        for _ in 1...200 { add("ann") }
        #expect(backlog.isFull(for: "ann") && !backlog.isFull(for: "bob") && backlog.count == 75)
        #expect(backlog.droppedReplies == 174)
        add("bob")
        #expect(backlog.count == 76 && backlog.droppedReplies == 174)
        while backlog.next(at: now) != nil {}
        #expect(!backlog.isFull(for: "ann") && backlog.bytes == 0)
        for _ in 1...20 { add("ann", 65_000) }
        #expect(backlog.isFull(for: "ann") && !backlog.isFull(for: "bob"))
        backlog.add(message("late", ""), .reply(of: "ping", to: "cy"), notBefore: now + .seconds(1))
        let late = backlog.next(at: now + .seconds(1))
        #expect(late?.message.topic == "late")
    }

    @Test func `what was on its way goes first again, and an old state only where no newer one waits`() {
        var backlog = Backlog(messages: 10, bytes: 1 << 20)
        backlog.add(message("bell", "2"), .event)
        backlog.add(message("state", "new"), .state)
        backlog.add(message("state", "old"), .state, onlyIfNoneWaits: true)
        backlog.add(message("other", "old"), .state, onlyIfNoneWaits: true)
        backlog.putBack(message("bell", "1"), .event)
        let taken = all(&backlog)
        #expect(taken == ["1", "2", "new", "old"] && backlog.bytes == 0)
    }

    @Test func `an answer of a group waits for its moment`() {
        var backlog = Backlog(messages: 10, bytes: 1 << 20)
        backlog.add(message("reply", "late"), .reply(of: "ping", to: "ann"), notBefore: now + .seconds(2))
        backlog.add(message("reply", "early"), .reply(of: "ping", to: "ann"), notBefore: now + .seconds(1))
        backlog.add(message("reply", "now"), .reply(of: "ping", to: "ann"))
        #expect(backlog.nextMoment == now + .seconds(1) && backlog.isReady(at: now))
        let taken = all(&backlog)
        #expect(taken == ["now"] && !backlog.isReady(at: now))
        let late = all(&backlog, at: now + .seconds(3))
        #expect(late == ["early", "late"] && backlog.bytes == 0)
    }

    @Test func `whatever a caller makes long counts`() {
        var backlog = Backlog(messages: 1000, bytes: 1 << 20)
        let data = [UInt8](repeating: 1, count: 65_535)
        for number in 1...40 {
            backlog.add(MQTTMessage("bell", [], correlationData: data + [UInt8(number)]), .event)
        }
        #expect(backlog.bytes <= 1 << 20 && backlog.droppedEvents >= 24)
        var handedOver = HandedOver()
        for number in Int32(1)...17 { handedOver.add(number, MQTTMessage("t", [], correlationData: data), .event) }
        #expect(!handedOver.hasRoom)
    }

    @Test func `in a long queue that is full the newest are kept, in their order`() {
        var backlog = Backlog(messages: 1000, bytes: 1 << 30)
        backlog.add(message("state", "s"), .state)
        for number in 1...5000 { backlog.add(message("bell", "\(number)"), .event) }
        let taken = all(&backlog)
        #expect(taken == ["s"] + (4002...5000).map(String.init) && backlog.bytes == 0)
    }

    @Test func `a thousand answers to one caller at once leave out none of another's`() {
        var backlog = Backlog(messages: 200, bytes: 1 << 20)
        let most = CallerSessions.most
        for _ in 0..<1000 { backlog.add(message("reply/ann", "a"), .reply(of: "ping", to: "ann")) }
        for caller in 1...most { backlog.add(message("reply/\(caller)", "b"), .reply(of: "ping", to: "\(caller)")) }
        #expect(backlog.droppedReplies == 600 && backlog.count == 400 + most)
        for _ in 0..<1000 { backlog.add(message("reply/1", "b"), .reply(of: "ping", to: "1", isRefusal: true)) }
        #expect(backlog.count < 410 + most)
    }

    @Test func `so much is handed over and no more`() {
        var handedOver = HandedOver()
        for number in Int32(1)...100 { handedOver.add(number, MQTTMessage("t", [UInt8(number)]), .event) }
        #expect(!handedOver.hasRoom)
        let removed = [handedOver.remove(2)?.topic, handedOver.remove(2)?.topic]
        #expect(removed == ["t", nil] && handedOver.hasRoom)
        let lost = handedOver.takeAll().map(\.message.payload)
        #expect(lost == (1...100).filter { $0 != 2 }.map { [UInt8($0)] })
        #expect(handedOver.count == 0 && handedOver.hasRoom)
        var large = HandedOver()
        #expect(large.hasRoom)
        large.add(1, MQTTMessage("t", [UInt8](repeating: 0, count: 2 << 20)), .reply(of: "ping", to: "ann"))
        #expect(!large.hasRoom)
    }
}

@Suite("Pauses between attempts to reach the broker")
struct ReconnectPauseTests {
    @Test func `they are at random, double, and end at five minutes`() {
        var pause = ReconnectPause()
        var generator = SeededGenerator(seed: 7)
        var longest = 30.0
        for _ in 1...12 {
            let seconds = pause.failed(using: &generator) / .seconds(1)
            #expect((1...longest).contains(seconds))
            longest = min(longest * 2, 300)
        }
        _ = pause.lost(after: .seconds(59), using: &generator)
        let pauses = (0..<40).map { _ in pause.failed(using: &generator) }
        #expect(pauses.contains { $0 > .seconds(60) })
        let seconds = pause.lost(after: .seconds(60), using: &generator) / .seconds(1)
        #expect((1...30).contains(seconds))
        var short = ReconnectPause(within: .milliseconds(100))
        let first = short.failed(using: &generator)
        #expect(first <= .milliseconds(100))
    }
}
