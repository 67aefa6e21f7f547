import TestRig
import Testing

@testable import Fleet

@Suite("The topics of a fleet")
struct TopicTests {
    private let topics = FleetTopics(prefix: "site/qc")

    @Test func `a call's topic is read as it is written`() throws {
        for target in [FleetTopics.Target.device("d.1"), .group("lobby")] {
            let topic = try #require(topics.call("playSound", to: target, from: "ann"))
            #expect(topics.readCall(topic) == .init(target: target, caller: "ann", command: "playSound"))
        }
        #expect(topics.calls(to: .group("lobby")) == "site/qc/group/lobby/call/+/+")
    }

    @Test(arguments: [
        "", "site/qc", "site/qc/", "qc/d/call/ann/ping", "site/qcx/d/call/ann/ping", "site/qc/d/call/ann",
        "site/qc/d/call/ann/",
        "site/qc/d/call/ann/a/b", "site/qc/d/call//ping", "site/qc//call/ann/ping", "site/qc/d/call/ann b/ping",
        "site/qc/d/Call/ann/ping", "site/qc/group/call/ann/ping", "site/qc/d/reply/ann/ping", "site/qc/ä/call/ann/ping",
        "site/qc/d\u{0}/call/ann/ping", "site/qc/d/call/a:b/ping",
        // Marks that combine with the slash in front of them, by characters.
        "site/qc/\u{301}d/call/ann/ping", "site/qc/d/\u{301}call/ann/ping", "site/qc/d/call/\u{301}ann/ping",
    ])
    func `what is no call's topic is none`(topic: String) { #expect(topics.readCall(topic) == nil) }

    @Test(arguments: ["", "a/b", "a+", "#", "a\u{0}b"])
    func `a command that cannot be a level has no topic`(command: String) {
        #expect(topics.call(command, to: .device("d"), from: "ann") == nil)
    }

    @Test(arguments: [
        ("kiosk", true), ("group:lobby", true), ("group", false), ("group:", false), ("a/b", false), ("", false),
    ])
    func `who is called is a device or a group`(text: String, isOne: Bool) {
        #expect((FleetTopics.Target(text) != nil) == isOne)
    }

    @Test func `names are short and plain`() {
        #expect(
            FleetName.isValid(String(repeating: "x", count: 64))
                && !FleetName.isValid(String(repeating: "x", count: 65))
        )
        #expect(["", "a b", "ä", "a\u{301}", "a/b", "#", "+", "a:b"].allSatisfy { !FleetName.isValid($0) })
    }

    @Test func `an answer goes below the device's own topic for that caller and nowhere else`() {
        let call = FleetTopics.Call(target: .device("d"), caller: "ann", command: "ping")
        #expect(topics.answerTopic("site/qc/d/reply/ann/a/b", of: "d", to: call) == "site/qc/d/reply/ann/a/b")
        for topic in [
            "site/qc/d/reply/ann", "site/qc/d/reply/ann/", "site/qc/e/reply/ann/x", "site/qc/d/reply/bob/x",
            "site/qc/d/status",
            "site/qc/d/call/ann/x", "site/qc/d/reply/ann/+", "site/qc/d/reply/ann/#", "qc/d/reply/ann/x", "", "$SYS/x",
            "site/qc/group/d/reply/ann/x", "site/qc/d/reply/ann/x\u{0}",
            "site/qc/d/reply/ann/" + String(repeating: "x", count: 2000),
        ] { #expect(topics.answerTopic(topic, of: "d", to: call) == nil, "\(topic)") }
    }

    @Test func `of a group's call each member puts its own name into the response topic`() {
        let call = FleetTopics.Call(target: .group("g"), caller: "ann", command: "ping")
        for topic in ["site/qc/group/g/reply/ann/x", "site/qc/other/reply/ann/x"] {
            #expect(topics.answerTopic(topic, of: "d", to: call) == "site/qc/d/reply/ann/x")
        }
        #expect(topics.answerTopic("site/qc/group/g/reply/bob/x", of: "d", to: call) == nil)
        #expect(topics.answerTopic("site/qc/other/call/ann/x", of: "d", to: call) == nil)
    }

    @Test func `whatever a caller sends, only the device's own topics for that caller come out of it`() {
        var generator = SeededGenerator(seed: 7)
        let parts = [
            "site", "qc", "/", "/", "/", "d", "group", "g", "call", "reply", "ann", "bob", "+", "#", "\u{0}", "x", "ä",
            "$", "",
        ]
        let calls = [FleetTopics.Target.device("d"), .group("g")].map {
            FleetTopics.Call(target: $0, caller: "ann", command: "ping")
        }
        for _ in 0..<20_000 {
            let start = Bool.random(using: &generator) ? "site/qc/" : ""
            let text = (0..<12).map { _ in parts.randomElement(using: &generator) ?? "" }.joined()
            if let call = topics.readCall(start + text) {
                #expect(
                    topics.call(call.command, to: call.target, from: call.caller) == start + text || text.contains("+")
                        || text.contains("#") || text.contains("\u{0}")
                )
            }
            for call in calls {
                guard let topic = topics.answerTopic(start + text, of: "d", to: call) else { continue }
                #expect(topic.hasPrefix("site/qc/d/reply/ann/") && !topic.contains { "+#\u{0}".contains($0) })
            }
        }
    }

    @Test func `what a device tells is read as it is written`() throws {
        for subject in [FleetTopics.Subject.status, .info, .event("doorbell"), .state("volume")] {
            let read = try #require(topics.readSubject(topics.topic(subject, of: "d")))
            #expect(read.device == "d" && read.subject == subject)
        }
        #expect(
            topics.readSubject("site/qc/d/call/ann/ping") == nil && topics.readSubject("site/qc/d/event/a/b") == nil
        )
        #expect(topics.readReply("site/qc/d/reply/ann/x/y", to: "ann").map { [$0.device, $0.rest] } == ["d", "x/y"])
        #expect(topics.readReply("site/qc/d/reply/bob/x", to: "ann") == nil)
    }
}
