import Fleet
import JSON
import Testing

@testable import Configuration
@testable import MQTT

@Suite("What Home Assistant is told of a device")
struct DiscoveryTests {
    private let schema: HomeAssistantSchema

    init() throws { schema = try HomeAssistantSchema() }

    // MARK: A device with every kind of entity

    private static let values: [(String, JSONValue)] = [
        ("progress", ["type": "number", "minimum": 0, "maximum": 10]), ("floor", ["type": "integer"]),
        ("deep", ["type": "number", "maximum": -2_000_000]), ("high", ["type": "number", "minimum": 3_000_000]),
        ("still", ["type": "integer", "minimum": 4, "maximum": 4]), ("lamp", ["type": "boolean"]),
        ("mood", ["type": "string", "oneOf": ["calm", "a \"loud\" one"]]),
        ("title", ["type": "string", "maxLength": 40]),
        ("story", ["type": "string", "maxLength": 4000]), ("form", ["type": "object"]), ("secret", ["type": "number"]),
        ("fine", ["type": "number", "minimum": 0, "maximum": 0.001]), ("locked", ["type": "boolean"]),
        ("notice", ["type": "string"]),
        ("wordy", ["type": "string", "oneOf": ["a", .string(String(repeating: "b", count: 256))]]),
        ("mute", ["type": "boolean"]), ("a.b", ["type": "boolean"]), ("a_b", ["type": "boolean"]),
    ]

    private static var commands: JSONObject {
        var commands: JSONObject = [:]
        for name in ["playSound", "play", "volume", "stop", "rec", "logMessage", "location", "doctor"] {
            commands[name] = [:]
        }
        for (name, declaration) in values { commands[name] = ["value": declaration] }
        commands["progress"] = [
            "value": values[0].1, "homeAssistant": ["unit_of_measurement": "%", "icon": "mdi:progress-clock"],
        ]
        commands["stop"] = ["homeAssistant": false]
        commands["door"] = ["homeAssistant": ["name": "Open the door", "device_class": "identify"]]
        commands["gate"] = [
            "homeAssistant": [
                "platform": "switch", "state_topic": "~/state/gate", "payload_on": "[true]", "payload_off": "[false]",
            ]
        ]
        commands["vibrate"] = ["homeAssistant": ["platform": "button", "name": "Buzz", "payload_press": "[200]"]]
        return commands
    }

    private static var knowledge: DeviceKnowledge {
        var knowledge = DeviceKnowledge()
        knowledge.hello = ["version": "1"]
        knowledge.commands = commands
        knowledge.sounds = [.init(number: 0, name: "laser.wav"), .init(number: 1, name: "a \"loud\" {{ bell }}.wav")]
        knowledge.files = ["take.caf", "{% song %}.flac"]
        (knowledge.hasMotor, knowledge.closed) = (true, ["locked"])
        return knowledge
    }

    private static func settings() -> MQTTSettings {
        var settings = MQTTSettings()
        settings.events = [.init(name: "doorbell", qos: 1), .init(name: "it's \"so\"")]
        settings.values = values.map(\.0)
        settings.states = [.init(name: .volume), .init(name: .recording), .init(name: .location), .init(name: .doctor)]
        settings.homeAssistant = .init()
        return settings
    }

    private func components(
        _ device: String = "kiosk1",
        _ settings: MQTTSettings = settings(),
        _ knowledge: DeviceKnowledge = knowledge,
        before: Set<String> = []
    ) -> [Component] {
        DeviceComponents(
            settings: settings,
            home: settings.homeAssistant ?? .init(),
            topics: FleetTopics(),
            device: device,
            knowledge: knowledge,
            reachable: Set(knowledge.commands?.names ?? []).subtracting(["secret"]),
            before: before
        ).all
    }

    private func discovery(_ device: String = "kiosk1") -> Discovery {
        Discovery(home: .init(), topics: FleetTopics(), device: device, version: "1.0")
    }

    private func message(_ device: String = "kiosk1") throws -> (topic: String, json: JSONValue) {
        let parts = components(device) + own(Self.declared, device)
        let message = discovery(device).message(parts, before: ["gone": "number", "lamp": "button"])
        return (message.topic, try JSONParser.parse(message.payload.span))
    }

    // MARK: Tests

    @Test func `its message is what Home Assistant's schema allows`() throws {
        let (topic, json) = try message()
        #expect(schema.faults(of: json, topic: topic) == [])
    }

    /// Each change here is seen by whoever has such a device in Home Assistant.
    @Test func `its message is the one that it was`() throws {
        let (topic, json) = try message()
        let golden = try HomeAssistantSchema.file("discovery-golden.json")
        #expect(topic == "homeassistant/device/qc_kiosk1/config")
        let (told, kept) = (json.objectValue ?? [:], golden.objectValue ?? [:])
        for name in Set(told.names + kept.names) where name != "components" { #expect(told[name] == kept[name]) }
        let (parts, keptParts) = (told["components"]?.objectValue ?? [:], kept["components"]?.objectValue ?? [:])
        #expect(parts.names == keptParts.names)
        for (name, part) in parts { #expect(part.text == keptParts[name]?.text, "\(name)") }
    }

    @Test func `the screen is a light, which shows its state where that is told`() throws {
        var (knowledge, settings) = (DeviceKnowledge(), MQTTSettings())
        (knowledge.hello, knowledge.commands) = (["version": "1"], ["screen": [:]])
        settings.homeAssistant = .init()
        let blind = try #require(components("kiosk1", settings, knowledge).first?.members)
        #expect(blind["payload_off"] == #"[{"on":false}]"# && blind["state_topic"] == nil)
        settings.events = [.init(name: "screenState")]
        let parts = components("kiosk1", settings, knowledge)
        #expect(parts.map(\.platform) == ["light", "event"])
        #expect(parts[0].members["state_topic"] == "qc/kiosk1/event/screenState")
        let message = discovery().message(parts, before: [:])
        #expect(schema.faults(of: try JSONParser.parse(message.payload.span), topic: message.topic) == [])
    }

    @Test func `the schema's check finds what is wrong`() throws {
        let (topic, json) = try message()
        func faults(_ id: String, _ change: (inout JSONObject) -> Void) -> [String] {
            var message = json.objectValue ?? [:]
            var components = message["components"]?.objectValue ?? [:]
            var component = components[id]?.objectValue ?? [:]
            change(&component)
            components[id] = .object(component)
            message["components"] = .object(components)
            return schema.faults(of: .object(message), topic: topic)
        }
        #expect(faults("volume") { $0["minimum"] = 1 } == ["volume: minimum is not allowed"])
        #expect(faults("volume") { $0["min"] = 101 } == ["volume: min is above max"])
        #expect(faults("volume") { $0["command_topic"] = nil } == ["volume: command_topic is missing"])
        #expect(faults("volume") { $0["command_topic"] = "qc/+/x" }.count == 1)
        #expect(faults("volume") { $0["command_template"] = "[{{ value ]" }.count == 1)
        #expect(faults("mute") { $0["unique_id"] = "qc_kiosk1_volume" } == ["a unique_id is there twice"])
        #expect(faults("location") { $0["json_attributes_topic"] = nil }.count == 1)
        #expect(faults("title") { $0["max"] = 300 }.count == 1)
        #expect(faults("doctor") { $0["platform"] = "sensors" }.count == 1)
        #expect(schema.faults(of: json, topic: "homeassistant/device/qc_kiosk.1/config").count == 1)
        #expect(schema.faults(of: ["device": [:]], topic: topic).count >= 3)
    }

    @Test(arguments: ["kiosk.1", "kiosk_1", "Kiosk-1", "1", String(repeating: "x.", count: 32)])
    func `a device of any name is told of as Home Assistant takes it`(device: String) throws {
        let (topic, json) = try message(device)
        #expect(schema.faults(of: json, topic: topic) == [])
    }

    @Test func `no two devices and no two of their entities have one name`() throws {
        let devices = ["a", "a.b", "a_b", "a-b", "a.b.c", "a_b.c", "a.b_c"]
        #expect(Set(devices.map { discovery($0).topic }).count == devices.count)
        var settings = Self.settings()
        settings.values = ["b_c", "c", "d_c", "b_d_c"]
        var knowledge = DeviceKnowledge()
        knowledge.hello = .null
        knowledge.commands = JSONObject(settings.values.map { ($0, ["value": ["type": "boolean"]]) })
        let identifiers = try ["a", "a_b", "a_b_d"].flatMap { device in
            let message = discovery(device).message(components(device, settings, knowledge), before: [:])
            let parts = try #require(try JSONParser.parse(message.payload.span).objectValue?["components"]?.objectValue)
            return parts.compactMap { $0.value.objectValue?["unique_id"]?.stringValue }
        }
        #expect(Set(identifiers).count == identifiers.count && identifiers.contains("qc_a_b_c"))
    }

    @Test func `what is gone is taken away, and what is another entity now before it comes`() throws {
        let (parts, before) = (components(), ["gone": "number", "lamp": "button", "title": "text"])
        func told(_ message: MQTTMessage?) throws -> JSONObject {
            let payload = try #require(message).payload
            let json = try JSONParser.parse(payload.span)
            #expect(schema.faults(of: json, topic: discovery().topic) == [])
            return try #require(json.objectValue?["components"]?.objectValue)
        }
        let removal = discovery().removal(parts, before: before)
        #expect(removal?.isRetained == false)
        #expect(try told(removal)["lamp"] == ["platform": "button"])
        let all = try told(discovery().message(parts, before: before))
        #expect(all["gone"] == ["platform": "number"] && all["lamp"]?.objectValue?["platform"] == "switch")
        #expect(all.names.first == "lamp")
        #expect(discovery().removal(parts, before: ["gone": "number", "lamp": "switch"]) == nil)
    }

    @Test func `what the device lacks now is there, and available with it`() throws {
        func parts(_ change: (inout DeviceKnowledge) -> Void, before: Set<String> = []) -> [String: Component] {
            var knowledge = Self.knowledge
            change(&knowledge)
            let all = components("d", Self.settings(), knowledge, before: before)
            return Dictionary(uniqueKeysWithValues: all.map { ($0.id, $0) })
        }
        let (rich, poor) = (parts { _ in }, parts { ($0.files, $0.hasMotor) = ([], false) })
        #expect(poor["play"]?.members["options"] == [] && poor["play"]?.members["availability"] != nil)
        let needed: [(String, HardwarePart)] = [
            ("volume", .volume), ("mute", .volume), ("play", .files), ("location", .location),
        ]
        for (id, part) in needed {
            let availability = rich[id]?.members["availability"]?.arrayValue?.last?.objectValue
            #expect(availability?["topic"] == "qc/d/state/hardware", "\(id)")
            #expect(availability?["value_template"]?.stringValue?.contains("value_json.\(part.rawValue) ") == true)
        }
        // A motor is rare: its button is there once one was seen.
        var knowledge = DeviceKnowledge()
        knowledge.commands = ["playSound": [:]]
        #expect(components("d", MQTTSettings(), knowledge) == [])
        #expect(components("d", MQTTSettings(), knowledge, before: ["vibrate"]).map(\.id) == ["vibrate"])
        #expect(HardwarePart.state([.volume: true, .files: false]).text == #"{"files":false,"volume":true}"#)
    }

    @Test func `a value that it may not set is only read`() {
        let closed: JSONObject = [
            "lamp": ["value": ["type": "boolean"], "gateways": ["mqtt"]],
            "level": ["value": ["type": "number", "unit": "%"], "gateways": ["mqtt"]],
        ]
        let (open, read) = (own(closed), own(closed, closed: ["lamp", "level"]))
        #expect(Set(open.map(\.platform)) == ["switch", "number"])
        #expect(Set(read.map(\.platform)) == ["binary_sensor", "sensor"])
        #expect(read.allSatisfy { $0.members["command_topic"] == nil } && Set(read.map(\.id)) == Set(open.map(\.id)))
    }

    @Test func `what is bound to hardware is what it is there`() throws {
        let bound: [(String, JSONValue)] = [
            ("bell", ["type": "boolean", "bound": "gpio", "input": true]),
            ("lamp", ["type": "boolean", "bound": "gpio"]),
            ("front", ["type": "number", "bound": "led", "minimum": 0, "maximum": 100, "unit": "%"]),
            ("status", ["type": "boolean", "bound": "led"]),
            ("fan", ["type": "number", "bound": "pwm", "minimum": 0, "maximum": 100, "unit": "%"]),
            ("heat", ["type": "number", "bound": "sensor", "input": true, "unit": "°C"]),
        ]
        var settings = Self.settings()
        settings.values = bound.map(\.0)
        var knowledge = DeviceKnowledge()
        knowledge.hello = .null
        knowledge.commands = JSONObject(bound.map { ($0.0, ["value": $0.1]) })
        let message = discovery().message(components("kiosk1", settings, knowledge), before: [:])
        let json = try JSONParser.parse(message.payload.span)
        #expect(schema.faults(of: json, topic: message.topic) == [])
        let parts = try #require(json.objectValue?["components"]?.objectValue)
        let platforms = bound.map { parts[$0.0]?.objectValue?["platform"]?.stringValue }
        #expect(platforms == ["binary_sensor", "switch", "light", "light", "number", "sensor"])
        #expect(parts["heat"]?.objectValue?["unit_of_measurement"] == "°C")
        #expect(parts["fan"]?.objectValue?["unit_of_measurement"] == "%")
        #expect(parts["bell"]?.objectValue?["command_topic"] == nil)
        #expect(parts["front"]?.objectValue?["brightness_scale"] == 100)
    }

    // MARK: Events and schedules

    private func own(_ commands: JSONObject, _ device: String = "kiosk1", closed: Set<String> = []) -> [Component] {
        var settings = MQTTSettings()
        settings.publishesOwnValues = true
        var knowledge = DeviceKnowledge()
        knowledge.hello = .null
        knowledge.commands = commands
        knowledge.closed = closed
        return components(device, settings, knowledge)
    }

    private static let declared: JSONObject = [
        "bell": ["event": ["type": "any"], "gateways": ["mqtt"], "homeAssistant": ["device_class": "doorbell"]],
        "night": .object(night), "quiet": ["schedule": ["every": "1h"]],
        "unheard": ["event": ["type": "any"], "gateways": ["mqtt"], "homeAssistant": false],
    ]
    private static let night: JSONObject = ["schedule": ["at": "22:00"], "gateways": ["mqtt"]]

    @Test func `an event of its own is an event, and a schedule has a button and its next time, too`() throws {
        let parts = own(Self.declared)
        #expect(parts.map(\.id) == ["event_bell", "event_night", "night", "next_night"])
        #expect(parts.map(\.platform) == ["event", "event", "button", "sensor"])
        let (bell, run, next) = (parts[0].members, parts[2].members, parts[3].members)
        #expect(bell["state_topic"] == "qc/kiosk1/event/bell" && bell["device_class"] == "doorbell")
        #expect(run["command_topic"] == "qc/kiosk1/call/ha/night" && run["payload_press"] == "[\"run\"]")
        #expect(next["device_class"] == "timestamp" && next["state_topic"] == "qc/kiosk1/state/night")
    }

    @Test func `whoever may not run a schedule gets no button, and nothing takes another's name`() {
        #expect(own(["night": .object(Self.night)], closed: ["night"]).map(\.id) == ["event_night", "next_night"])
        let both = own([
            "next_night": ["value": ["type": "boolean"], "gateways": ["mqtt"]], "night": .object(Self.night),
        ])
        #expect(both.first?.id == "next_night" && both.first?.platform == "switch")
        #expect(Set(both.map(\.id)).count == 4)
        var settings = MQTTSettings()
        settings.publishesOwnValues = true
        settings.events = [.init(name: "night", qos: 1)]
        var knowledge = DeviceKnowledge()
        knowledge.commands = ["night": .object(Self.night)]
        let listed = components("d", settings, knowledge)
        #expect(listed.map(\.id) == ["event_night", "night", "next_night"] && listed[0].members["qos"] == 1)
    }

    @Test func `the entry of a schedule changes its button, or what its platform says`() throws {
        func changed(_ members: JSONObject, closed: Set<String> = []) -> [String: String] {
            var night = Self.night
            night["homeAssistant"] = .object(members)
            let parts = own(["night": .object(night)], closed: closed)
            return Dictionary(uniqueKeysWithValues: parts.map { ($0.id, $0.members["name"]?.stringValue ?? "") })
        }
        let plain = ["event_night": "night", "night": "Run night", "next_night": "Next night"]
        func with(_ id: String) -> [String: String] { plain.merging([id: "Dark"]) { $1 } }
        #expect(changed([:]) == plain && changed(["name": "Dark"]) == with("night"))
        #expect(changed(["platform": "sensor", "name": "Dark"]) == with("next_night"))
        #expect(changed(["platform": "event", "name": "Dark"]) == with("event_night"))
        // Where it is not published, a button can be asked for.
        var knowledge = DeviceKnowledge()
        knowledge.commands = ["night": ["schedule": [:], "homeAssistant": ["name": "Dark"]]]
        let other = components("d", MQTTSettings(), knowledge)
        #expect(other.map(\.members["payload_press"]) == ["[\"run\"]"])
    }
}
