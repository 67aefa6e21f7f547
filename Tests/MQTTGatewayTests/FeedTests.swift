import JSON
import Testing

@testable import Configuration
@testable import Fleet
@testable import MQTT

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

@Suite("What names the gateway's users")
struct OwnNameTests {
    private func knowledge(_ gateways: [String: [JSONValue]], _ kind: String = "value") -> DeviceKnowledge {
        var knowledge = DeviceKnowledge()
        knowledge.commands = ["ping": ["gateways": ["mqtt"]], "plain": ["value": ["type": "string"]]]
        for (name, list) in gateways {
            knowledge.commands?[name] = .object([kind: [:], "gateways": .array(list)])
        }
        return knowledge
    }

    private let lists: [String: [JSONValue]] = [
        "lamp": ["mqtt"], "fan": ["mqtt", "web"], "page": ["web"], "volume": ["mqtt"], "a/b": ["mqtt"],
    ]

    @Test func `is published with the word own, and the values of the settings without it`() {
        let knowledge = knowledge(lists)
        var settings = MQTTSettings()
        settings.values = ["plain"]
        #expect(knowledge.names(by: settings) == PublishedNames(values: ["plain"]))
        settings.publishesOwnValues = true
        #expect(knowledge.names(by: settings) == PublishedNames(values: ["fan", "lamp"]))
        #expect(knowledge.own == PublishedNames(values: ["a/b", "fan", "lamp", "volume"]))
        #expect(knowledge.isOwn("ping") && !knowledge.isOwn("page") && !knowledge.isOwn("none"))
        #expect(DeviceKnowledge().names(by: settings) == PublishedNames())
    }

    @Test func `is an event or a schedule, too, and a schedule has a state`() {
        var settings = MQTTSettings()
        #expect(knowledge(lists, "event").names(by: settings) == PublishedNames())
        settings.publishesOwnValues = true
        // An event has no state that it could be taken for.
        let events = knowledge(lists, "event").names(by: settings)
        #expect(events == PublishedNames(events: ["fan", "lamp", "volume"]) && events.states.isEmpty)
        let schedules = knowledge(lists, "schedule").names(by: settings)
        #expect(schedules == PublishedNames(schedules: ["fan", "lamp"]) && schedules.states == ["fan", "lamp"])
        #expect(knowledge(lists, "schedule").isSchedule("lamp") && !knowledge(lists, "schedule").isSchedule("plain"))
    }

    @Test func `sends its events, and those with a listed quality have that`() throws {
        var settings = MQTTSettings()
        settings.events = [.init(name: "bell", qos: 1)]
        var feed = DeviceFeed(settings, FleetTopics(), device: "d")
        feed.names = PublishedNames(values: ["lamp"], events: ["bell", "door"], schedules: ["night"])
        #expect(feed.subscriptions == ["bell", "lamp", "door", "night"])
        for (name, qos) in [("bell", 1), ("door", 0), ("night", 0)] as [(String, Int32)] {
            let told = feed.publications(ofEvent: name, ["planned": 1]).map(\.message)
            #expect(
                told.map(\.topic) == ["qc/d/event/\(name)"] && told.map(\.qos) == [qos] && told[0].isRetained == false
            )
        }
        #expect(feed.publications(ofEvent: "lamp", true).map(\.message.topic) == ["qc/d/state/lamp"])
    }
}

@Suite("What a client of a fleet hears")
struct FleetClientTests {
    private let topics = FleetTopics()

    @Test func `members are known by what they tell`() throws {
        var members = FleetMembers(topics)
        let info = DeviceInfo(
            hello: ["version": "1"],
            commands: ["ping"],
            publishes: ["lamp"],
            groups: ["g"],
            since: "2026"
        )
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

    @Test func `since when and why a device is away is what it said itself`() throws {
        var members = FleetMembers(topics)
        var info = DeviceInfo(hello: ["version": "1"], commands: ["ping"], groups: ["g"], since: "2026")
        func tell(_ status: String) throws -> FleetMembers.Member {
            members.take(MQTTMessage(topics.topic(.info, of: "a"), Array(info.json.text.utf8)))
            members.take(MQTTMessage(topics.topic(.status, of: "a"), Array(status.utf8)))
            return try #require(members["a"])
        }
        let power = try tell("offline")
        #expect(power.since == nil && power.doctor == "-" && power.json.objectValue?["gone"] == .null)
        #expect(power.presence == "a is offline")
        info.gone = DeviceInfo.Gone(since: "2027", reason: DeviceInfo.noDaemon)
        let gone = try tell("offline")
        #expect(gone.info == info && gone.since == "2027" && gone.doctor == DeviceInfo.noDaemon)
        #expect(gone.presence == "a is offline since 2027: \(DeviceInfo.noDaemon)")
        #expect(gone.json.objectValue?["gone"] == info.gone?.json && gone.json.objectValue?["since"] == "2026")
        // It has come back, and tells more in a moment.
        let back = try tell("online")
        #expect(back.presence == "a is online again")
        #expect(back.since == "2026" && back.doctor == "-" && back.json.objectValue?["gone"] == .null)
    }
}
