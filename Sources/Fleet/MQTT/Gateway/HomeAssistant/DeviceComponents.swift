import Configuration
import Fleet
import JSON
import QuickConnect

/// The device's entities in Home Assistant: for its abilities, for what the settings publish, and for what mapping
/// entries say.
struct DeviceComponents: Sendable {
    let settings: MQTTSettings
    let home: MQTTSettings.HomeAssistant
    let topics: FleetTopics
    let device: String
    let knowledge: DeviceKnowledge
    /// The commands that Home Assistant may call.
    let reachable: Set<String>
    /// The identifiers of the components that it had before.
    let before: Set<String>

    /// The most files in the list to choose from.
    private static let maxFiles = 100

    var all: [Component] {
        let names = knowledge.names(by: settings)
        let listed = settings.events.map { event($0.name, qos: $0.qos) }
        var made = sounds + files + volume + others + states + listed + names.values.compactMap(value)
        let own = (names.events + names.schedules).filter { name in !settings.events.contains { $0.name == name } }
        // Last, so that nothing that was there before gets another identifier.
        made += own.map { event($0, qos: 0) } + names.schedules.flatMap(schedule)
        var taken: Set<String> = []
        return overridden(made).map { taken.insert($0.id).inserted ? $0 : $0.apart() }
    }

    // MARK: Parts

    private func call(_ command: String, _ members: JSONObject) -> JSONObject {
        let topic = topics.call(command, to: .device(device), from: home.caller) ?? ""
        var all: JSONObject = ["command_topic": .string(topic), "qos": 1]
        all.merge(members)
        return all
    }

    private func topic(_ subject: FleetTopics.Subject) -> JSONValue { .string(topics.topic(subject, of: device)) }

    private func button(_ command: String, _ name: String, id: String? = nil, _ payload: JSONValue) -> Component {
        Component("button", command, id: id, name, call(command, ["payload_press": .string(payload.text)]))
    }

    /// What is not available while a part of the device does not answer. It stays, with what the user of Home Assistant has made of it.
    private func needing(_ part: HardwarePart, _ members: JSONObject) -> JSONObject {
        var members = members
        let template = "{{ 'online' if value_json.\(part.rawValue) else 'offline' }}"
        members["availability"] = [
            ["topic": topic(.status)],
            ["topic": topic(.state(MQTTSettings.hardware)), "value_template": .string(template)],
        ]
        members["availability_mode"] = "all"
        return members
    }

    private func has(_ state: MQTTSettings.State.Name) -> Bool { settings.states.contains { $0.name == state } }

    /// A dictionary in Home Assistant's template language, which accepts JSON.
    private func table(_ pairs: [(String, JSONValue)]) -> String { JSONValue.object(JSONObject(pairs)).text }

    // MARK: What it can do

    private var sounds: [Component] {
        guard reachable.contains("playSound"), !knowledge.sounds.isEmpty else { return [] }
        let named = knowledge.sounds.map { (number: $0.number, name: Self.title($0.name)) }
        var components = named.prefix(home.buttons).map { sound in
            button("playSound", "Play \(sound.name)", id: "sound_\(sound.number)", [.integer(sound.number)])
        }
        let numbers = table(named.map { ($0.name, .integer($0.number)) })
        let members: JSONObject = [
            "options": .array(named.map { .string($0.name) }), "command_template": .string("[{{ \(numbers)[value] }}]"),
        ]
        components.append(Component("select", "playSound", "Sound", call("playSound", members)))
        return components
    }

    /// The name without its extension.
    private static func title(_ file: String) -> String {
        guard let dot = file.lastIndex(of: "."), dot != file.startIndex else { return file }
        return String(file[..<dot])
    }

    private var files: [Component] {
        guard reachable.contains("play") else { return [] }
        let members: JSONObject = [
            "options": .array(knowledge.files.prefix(Self.maxFiles).map(JSONValue.string)),
            "command_template": "[{{ value | tojson }}]",
        ]
        return [Component("select", "play", "Play file", needing(.files, call("play", members)))]
    }

    private var volume: [Component] {
        guard reachable.contains("volume") else { return [] }
        var number: JSONObject = ["command_template": "[{{ value | int }}]", "min": 0, "max": 100]
        var mute: JSONObject = ["payload_on": "[\"mute\"]", "payload_off": "[\"unmute\"]"]
        if has(.volume) {
            number.merge([
                "state_topic": topic(.state("volume")),
                "value_template": "{{ value_json.volume if value_json else none }}",
            ])
            mute.merge([
                "state_topic": topic(.state("volume")), "state_on": "on", "state_off": "off",
                "value_template": "{{ ('on' if value_json.muted else 'off') if value_json else none }}",
            ])
        }
        return [
            Component("number", "volume", "Volume", needing(.volume, call("volume", number))),
            Component("switch", "volume", id: "mute", "Mute", needing(.volume, call("volume", mute))),
        ]
    }

    private var others: [Component] {
        var components: [Component] = []
        if reachable.contains("stop") { components.append(button("stop", "Stop all", [])) }
        if reachable.contains("playSound"), knowledge.hasMotor || before.contains(Self.vibrate) {
            var vibrate = button("playSound", "Vibrate", id: Self.vibrate, [-1])
            vibrate.members = needing(.vibration, vibrate.members)
            components.append(vibrate)
        }
        if reachable.contains("rec") { components.append(recording) }
        if reachable.contains("logMessage") {
            let members = call("logMessage", ["command_template": "[{{ value | tojson }}]"])
            components.append(Component("notify", "logMessage", "Journal", members))
        }
        if reachable.contains("screen") { components.append(screen) }
        return components
    }

    private static let vibrate = "vibrate"

    /// The screen is a light. Whether it can be dimmed is only known where somebody tries.
    private var screen: Component {
        let (on, off) = (#"[{"on":true}]"#, #"[{"on":false}]"#)
        var members = call("screen", ["payload_on": .string(on), "payload_off": .string(off), "icon": "mdi:monitor"])
        members["brightness_command_topic"] = members["command_topic"]
        members.merge([
            "brightness_command_template": #"[{"brightness":{{ value }}}]"#, "brightness_scale": 100,
            "on_command_type": "first",
        ])
        if settings.events.contains(where: { $0.name == "screenState" }) {
            let state = topic(.event("screenState"))
            members.merge([
                "state_topic": state, "brightness_state_topic": state,
                "state_value_template": .string("{{ '\(on)' if value_json.on else '\(off)' }}"),
                "brightness_value_template": "{{ value_json.brightness | default('') }}",
            ])
        }
        return Component("light", "screen", "Screen", members)
    }

    private var recording: Component {
        var members: JSONObject = [
            "payload_on": "[\"ha.opus\",\"start\",{\"limit\":600}]", "payload_off": "[\"ha.opus\",\"stop\"]",
        ]
        if has(.recording) {
            members.merge([
                "state_topic": topic(.state("recording")),
                "value_template": "{{ 'recording' if value_json and value_json.state == 'recording' else 'stopped' }}",
                "state_on": "recording", "state_off": "stopped",
            ])
        }
        return Component("switch", "rec", "Recording", call("rec", members))
    }

    // MARK: What it tells

    private var states: [Component] {
        var components: [Component] = []
        if has(.location) {
            let attributes =
                "{{ ({'latitude': value_json.latitude, 'longitude': value_json.longitude, "
                + "'gps_accuracy': value_json.accuracy | default(0, true)} if value_json else {}) | tojson }}"
            components.append(
                Component(
                    "device_tracker",
                    "location",
                    "Position",
                    needing(
                        .location,
                        [
                            "source_type": "gps", "json_attributes_topic": topic(.state("location")),
                            "json_attributes_template": .string(attributes), "qos": 1,
                        ]
                    )
                )
            )
        }
        if has(.doctor) {
            components.append(
                Component(
                    "binary_sensor",
                    "doctor",
                    "Problem",
                    [
                        "device_class": "problem", "entity_category": "diagnostic",
                        "state_topic": topic(.state("doctor")),
                        "value_template": "{{ ('OFF' if value_json.ok else 'ON') if value_json else none }}",
                        "json_attributes_topic": topic(.state("doctor")),
                        "json_attributes_template": "{{ (value_json or {}) | tojson }}", "qos": 1,
                    ]
                )
            )
        }
        return components
    }

    private func event(_ name: String, qos: Int) -> Component {
        let type = JSONValue.string(name)
        return Component(
            "event",
            name,
            id: "event_\(name)",
            name,
            [
                "state_topic": topic(.event(name)), "event_types": [type], "qos": .integer(Int64(qos)),
                "value_template": .string("{{ {'event_type': \(type.text), 'data': value_json} | tojson }}"),
            ]
        )
    }

    // MARK: Schedules

    /// What runs it, where Home Assistant may, and when it runs next.
    private func schedule(_ name: String) -> [Component] {
        func time(_ member: String) -> String {
            "(value_json.\(member) / 1000) | timestamp_utc if value_json.\(member) else None"
        }
        let attributes = "{{ {'last': \(time("last")), 'result': value_json.result} | tojson }}"
        let next = Component(
            "sensor",
            name,
            id: "next_\(name)",
            "Next \(name)",
            [
                "device_class": "timestamp", "state_topic": topic(.state(name)), "qos": 1,
                "value_template": .string("{{ \(time("next")) }}"), "json_attributes_topic": topic(.state(name)),
                "json_attributes_template": .string(attributes),
            ]
        )
        guard reachable.contains(name), !knowledge.closed.contains(name) else { return [next] }
        return [button(name, "Run \(name)", Self.run), next]
    }

    private static let run: JSONValue = [.string(PlannedCall.run)]

    // MARK: Values

    private func value(_ name: String) -> Component? {
        guard let declaration = knowledge.commands?[name]?.objectValue?["value"]?.objectValue else { return nil }
        let isSet = reachable.contains(name) && !knowledge.closed.contains(name) && declaration["input"] != true
        let call = isSet ? call(name, [:]) : nil
        return ValueComponent(name: name, declaration: declaration, state: topic(.state(name)), call: call).component
    }

    // MARK: What mapping entries say

    private func overridden(_ made: [Component]) -> [Component] {
        var components = made
        for (command, entry) in knowledge.commands ?? [:] {
            switch entry.objectValue?["homeAssistant"] {
            case .bool(false)?: components.removeAll { $0.subject == command }
            case .object(let members)?: change(&components, command, members)
            default: continue
            }
        }
        return components
    }

    /// Members change an existing component of that name; otherwise they make a new one, by default a button.
    private func change(_ components: inout [Component], _ command: String, _ members: JSONObject) {
        let members = JSONObject(members.map { ($0.name, absolute($0.name, $0.value)) })
        let wanted = members["platform"]?.stringValue
        if let index = index(of: command, wanted, in: components),
            members["platform"] == nil || wanted == components[index].platform
        {
            components[index].members.merge(members)
            return
        }
        let platform = wanted ?? "button"
        components.removeAll { $0.id == Component.identifier(command) }
        var all: JSONObject = ["qos": 1]
        if reachable.contains(command), Self.takesCommands.contains(platform) {
            let press: JSONValue = knowledge.isSchedule(command) ? Self.run : []
            all = call(command, platform == "button" ? ["payload_press": .string(press.text)] : [:])
        }
        all.merge(members)
        components.append(Component(platform, command, members["name"]?.stringValue ?? command, all))
    }

    /// The component of an entry that its members change. A schedule has several, which their platforms tell apart.
    private func index(of command: String, _ platform: String?, in components: [Component]) -> Int? {
        let own = components.indices.filter { components[$0].subject == command }
        let chosen = knowledge.isSchedule(command) ? own.first { components[$0].platform == platform } : nil
        return chosen ?? own.first { components[$0].id == Component.identifier(command) } ?? own.first
    }

    /// Platforms that accept commands, and so have a command topic.
    private static let takesCommands: Set<String> = [
        "button", "cover", "fan", "humidifier", "light", "lock", "notify", "number", "scene", "select", "siren",
        "switch",
        "text", "valve",
    ]

    /// Replaces `~/` at the start of a topic by the device's own topic.
    private func absolute(_ name: String, _ value: JSONValue) -> JSONValue {
        guard name.hasSuffix("topic"), let text = value.stringValue, text.hasPrefix("~/") else { return value }
        return .string("\(topics.prefix)/\(device)/\(text.dropFirst(2))")
    }
}
