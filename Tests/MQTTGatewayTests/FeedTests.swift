import FleetClient
import JSON
import MQTT
import Testing

@testable import Configuration
@testable import Fleet
@testable import MQTTGateway

@Suite("What a device publishes")
struct FeedTests {
    private func feed() -> DeviceFeed {
        var settings = MQTTSettings()
        settings.events = [.init(name: "doorbell", qos: 1), .init(name: "playState"), .init(name: "accel")]
        settings.values = ["progress"]
        settings.states = [.init(name: .volume), .init(name: .recording)]
        return DeviceFeed(settings, FleetTopics(), device: "d")
    }

    @Test func `what is listed is subscribed to, and nothing else`() {
        #expect(Set(feed().subscriptions) == ["doorbell", "playState", "accel", "progress", "volumeState", "recState"])
    }

    @Test func `events, values and states have topics of their own`() throws {
        var feed = feed()
        let bells = feed.publications(ofEvent: "doorbell", ["door": "front"])
        let bell = try #require(bells.first)
        #expect(
            bell.message.topic == "qc/d/event/doorbell" && bell.message.qos == 1 && !bell.message.isRetained
                && bell.kind == .event
        )
        let values = feed.publications(ofEvent: "progress", 3)
        let value = try #require(values.first)
        #expect(value.message.topic == "qc/d/state/progress" && value.message.isRetained && value.kind == .state)
        let volume = feed.publications(ofEvent: "volumeState", ["volume": 1]).map(\.message.topic)
        let (other, accel) = (
            feed.publications(ofEvent: "other", 1), feed.publications(ofEvent: "accel", 1).map(\.kind)
        )
        #expect(volume == ["qc/d/state/volume"] && other.isEmpty && accel == [.newest(key: "")])
    }

    @Test func `of a recording its changes are a state, and not its progress`() {
        var feed = feed()
        let first = feed.recording(ofState: ["recording": []]).message.payload
        #expect(String(decoding: first, as: UTF8.self).contains("stopped"))
        let states = ["recording", "recording", "recording", "stopped"].map { word in
            feed.publications(ofEvent: "recState", ["file": "a", "state": .string(word)]).count
        }
        #expect(states == [1, 0, 0, 1])
    }
}

@Suite("Values that name the gateway's users")
struct OwnValueTests {
    private func knowledge(_ gateways: [String: [JSONValue]]) -> DeviceKnowledge {
        var knowledge = DeviceKnowledge()
        knowledge.commands = ["ping": ["gateways": ["mqtt"]], "plain": ["value": ["type": "string"]]]
        for (name, list) in gateways {
            knowledge.commands?[name] = ["value": ["type": "boolean"], "gateways": .array(list)]
        }
        return knowledge
    }

    @Test func `are published with the word own, and those of the settings without it`() {
        let knowledge = knowledge([
            "lamp": ["mqtt"], "fan": ["mqtt", "web"], "page": ["web"], "volume": ["mqtt"], "a/b": ["mqtt"],
        ])
        var settings = MQTTSettings()
        settings.values = ["plain"]
        #expect(knowledge.values(by: settings) == ["plain"])
        settings.publishesOwnValues = true
        #expect(knowledge.values(by: settings) == ["fan", "lamp"])
        #expect(knowledge.ownValues == ["a/b", "fan", "lamp", "volume"])
        #expect(knowledge.isOwn("ping") && !knowledge.isOwn("page") && !knowledge.isOwn("none"))
        #expect(DeviceKnowledge().values(by: settings).isEmpty)
    }
}

@Suite("What a client of a fleet hears")
struct FleetClientTests {
    private let topics = FleetTopics()

    @Test func `members are known by what they tell`() throws {
        var members = FleetMembers(topics)
        let info = DeviceInfo(hello: ["version": "1"], commands: ["ping"], groups: ["g"], since: "2026")
        func tell(_ device: String, _ subject: FleetTopics.Subject, _ text: String) -> Bool {
            members.take(MQTTMessage(topics.topic(subject, of: device), Array(text.utf8)))
        }
        let told = [
            tell("a", .status, "online"), tell("a", .info, info.json.text), tell("b", .info, info.json.text),
            tell("b", .status, "offline"), tell("c", .status, "online"), tell("c", .info, "no JSON"),
            tell(
                "a",
                .state("doctor"),
                #"{"ok": false, "findings": [{"subject": "speaker", "state": "error", "says": "s"}]}"#
            ),
            tell("a", .event("x"), "1"), members.take(MQTTMessage("other", [])),
        ]
        #expect(told == [true, true, true, true, true, true, true, false, false])
        #expect(members.present(in: "g") == ["a"] && members.all.map(\.name) == ["a", "b", "c"])
        #expect(members["a"]?.doctor == "error: speaker" && members["b"]?.doctor == "-" && members["a"]?.info == info)
    }
}
