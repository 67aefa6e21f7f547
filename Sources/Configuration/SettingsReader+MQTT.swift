import Fleet
import JSON
import QuickConnect

extension SettingsReader {
    static var mqttKeys: [FileKey<MQTTSettings>] {
        [
            FileKey("broker") { $0.readBroker($1, into: &$2) },
            FileKey("tls", \.tls) { file, node, _ in file.tls(node) },
            FileKey("user", \.user) { $0.string($1, $2) },
            FileKey("passwordFile", \.passwordFile) { $0.filePath($1, $2) },
            FileKey("device", \.device) { $0.deviceName($1, $2) },
            FileKey("groups", \.groups) { $0.groups($1, $2) },
            FileKey("prefix", \.prefix) { $0.topicPrefix($1, $2) },
            FileKey("commands", \.commands) { $0.commands($1, $2) },
            FileKey("events", \.events) { file, node, _ in file.events(node) },
            FileKey("values") { $0.readValues($1, into: &$2) },
            FileKey("states", \.states) { file, node, _ in file.states(node) },
            FileKey("homeAssistant", \.homeAssistant) { file, node, _ in file.homeAssistantSettings(node) },
            FileKey("queue", \.self, keys: queueKeys),
            FileKey("spread", \.spreadSeconds) { $0.seconds($1, $2) },
            FileKey("reconnectWithin", \.reconnectSeconds) { $0.seconds($1, $2) },
            FileKey("session", \.sessionSeconds) { $0.session($1, $2) },
        ]
    }

    static var queueKeys: [FileKey<MQTTSettings>] {
        [
            FileKey("messages", \.queueMessages) { $0.integer($1, $2, in: 1...1_000_000) },
            FileKey("bytes", \.queueBytes) { $0.integer($1, $2, in: 65_536...(1 << 30)) },
        ]
    }

    fileprivate static var tlsKeys: [FileKey<MQTTSettings.TLS>] {
        [
            FileKey("ca", \.authority) { $0.filePath($1, $2) },
            FileKey("certificate", \.certificate) { $0.filePath($1, $2) },
            FileKey("key", \.key) { $0.filePath($1, $2) },
        ]
    }

    fileprivate static var eventKeys: [FileKey<MQTTSettings.Event>] {
        [
            FileKey("event", \.name) { $0.string($1, $2) },
            FileKey("qos", \.qos) { $0.integer($1, $2, in: 0...1) },
        ]
    }

    fileprivate struct StateWish {
        var name: String?
        var seconds: Double?
    }

    fileprivate static var stateKeys: [FileKey<StateWish>] {
        [
            FileKey("state", \.name) { $0.string($1, $2) },
            FileKey("every", \.seconds) { $0.seconds($1, $2) },
        ]
    }

    fileprivate static var homeAssistantKeys: [FileKey<MQTTSettings.HomeAssistant>] {
        [
            FileKey("prefix", \.prefix) { $0.topicPrefix($1, $2) },
            FileKey("caller", \.caller) { $0.caller($1, $2) },
            FileKey("name", \.name) { $0.string($1, $2) },
            FileKey("buttons", \.buttons) { $0.integer($1, $2, in: 0...1000) },
        ]
    }
}

extension YAMLFile {
    mutating func mqtt(_ node: YAMLNode) -> MQTTSettings {
        var mqtt = MQTTSettings()
        let names = read(node, of: "'mqtt'", SettingsReader.mqttKeys, into: &mqtt, skippingNull: true)
        if !names.contains("broker") { mistake("'mqtt' needs a 'broker', such as broker.example.org", at: node) }
        return mqtt
    }

    fileprivate mutating func readValues(_ node: YAMLNode, into mqtt: inout MQTTSettings) {
        mqtt.publishesOwnValues = mqtt.publishesOwnValues || node.text == Self.ownValues
        if node.text != Self.ownValues { mqtt.values = values(node) }
    }

    fileprivate mutating func readBroker(_ node: YAMLNode, into mqtt: inout MQTTSettings) {
        guard let text = string(node, "'broker'") else { return }
        guard let address = HostAndPort(text, defaultPort: "0"), let port = Int(address.port) else {
            let expectation = "HOST or HOST:PORT, such as broker.example.org or [2001:db8::1]:8883"
            return mistake("'\(text)' is not \(expectation)", at: node)
        }
        mqtt.host = address.host
        mqtt.port = port == 0 ? nil : port
    }

    fileprivate mutating func tls(_ node: YAMLNode) -> MQTTSettings.TLS? {
        // With all defaults: the authorities that the system trusts.
        if let isOn = node.json?.boolValue { return isOn ? MQTTSettings.TLS() : nil }
        var tls = MQTTSettings.TLS()
        _ = read(node, of: "'tls'", SettingsReader.tlsKeys, into: &tls, skippingNull: true)
        if (tls.certificate == nil) != (tls.key == nil) {
            mistake("a client's certificate needs both 'certificate' and 'key'", at: node)
        }
        return tls
    }

    fileprivate mutating func deviceName(_ node: YAMLNode, _ what: String) -> String? {
        guard let name = string(node, what) else { return nil }
        // This name begins the topics of groups.
        guard FleetName.isValid(name), name != FleetTopics.group else {
            mistake("'device' must be a name of \(FleetName.expectation), and not 'group'", got: node)
            return nil
        }
        return name
    }

    fileprivate mutating func groups(_ node: YAMLNode, _ what: String) -> [String] {
        distinct(words(node, what), "a group").compactMap { name in
            if FleetName.isValid(name.value) { return name.value }
            mistake("'\(name.value)' is not a name of a group: \(FleetName.expectation)", at: name.location)
            return nil
        }
    }

    fileprivate mutating func distinct(_ words: [Located<String>], _ what: String) -> [Located<String>] {
        var seen: Set<String> = []
        return words.filter { word in
            if seen.insert(word.value).inserted { return true }
            mistake("\(what) '\(word.value)' is listed twice", at: word.location)
            return false
        }
    }

    fileprivate mutating func topicPrefix(_ node: YAMLNode, _ what: String) -> String? {
        guard let text = string(node, what) else { return nil }
        let levels = text.split(separator: "/", omittingEmptySubsequences: false)
        guard levels.allSatisfy({ FleetName.isValid(String($0)) }) else {
            mistake(
                "'prefix' must be a topic such as qc or site/qc, of names of \(FleetName.expectation)",
                got: node
            )
            return nil
        }
        return text
    }

    fileprivate mutating func commands(_ node: YAMLNode, _ what: String) -> [String] {
        distinct(words(node, what), "the command").compactMap { command in
            if FleetCommands.ofConnections.contains(command.value) {
                let problem = "'\(command.value)' holds for a connection, and callers over a broker have none"
                mistake(problem, at: command.location)
                return nil
            }
            return level(command) ? command.value : nil
        }
    }

    /// In place of a list: all that name this gateway themselves.
    fileprivate static let ownValues = "own"

    fileprivate mutating func values(_ node: YAMLNode) -> [String] {
        guard node.sequence != nil else {
            mistake("'values' must be a list, such as [a, b], or the word own", got: node)
            return []
        }
        let states = MQTTSettings.State.Name.allCases.map(\.rawValue)
        return distinct(words(node, "'values'"), "the value").compactMap { value in
            guard !states.contains(value.value) else {
                mistake("the value '\(value.value)' has the topic of a state", at: value.location)
                return nil
            }
            return level(value) ? value.value : nil
        }
    }

    /// Whether a name can be a level of a topic.
    fileprivate mutating func level(_ name: Located<String>) -> Bool {
        guard !MQTTSettings.isLevel(name.value) else { return true }
        mistake("'\(name.value)' cannot be part of a topic: no /, + and # may be in it", at: name.location)
        return false
    }

    fileprivate mutating func events(_ node: YAMLNode) -> [MQTTSettings.Event] {
        guard let items = node.sequence else {
            mistake("'events' must be a list, such as [doorbell, {event: alarm, qos: 1}]", got: node)
            return []
        }
        var events: [MQTTSettings.Event] = []
        for item in items {
            var event = MQTTSettings.Event(name: item.text ?? "")
            if item.text == nil {
                _ = read(item, of: "an event", SettingsReader.eventKeys, into: &event, skippingNull: true)
            }
            guard level(Located(event.name, at: location(item))) else { continue }
            if event.name == "location" {
                let what = "'location' is a state with an interval: states: [{state: location, every: 60s}]"
                mistake(what, at: item)
            } else if events.contains(where: { $0.name == event.name }) {
                mistake("the event '\(event.name)' is listed twice", at: item)
            } else {
                events.append(event)
            }
        }
        return events
    }

    fileprivate mutating func states(_ node: YAMLNode) -> [MQTTSettings.State] {
        guard let items = node.sequence else {
            mistake("'states' must be a list, such as [volume, {state: location, every: 60s}]", got: node)
            return []
        }
        var states: [MQTTSettings.State] = []
        for item in items {
            guard let state = state(item) else { continue }
            if states.contains(where: { $0.name == state.name }) {
                mistake("the state '\(state.name.rawValue)' is listed twice", at: item)
            } else {
                states.append(state)
            }
        }
        return states
    }

    fileprivate mutating func state(_ node: YAMLNode) -> MQTTSettings.State? {
        var wish = SettingsReader.StateWish(name: node.text)
        if wish.name == nil { _ = read(node, of: "a state", SettingsReader.stateKeys, into: &wish, skippingNull: true) }
        let (text, seconds) = (wish.name, wish.seconds)
        let names = MQTTSettings.State.Name.allCases.map(\.rawValue)
        guard let text, let name = MQTTSettings.State.Name(rawValue: text) else {
            let question = NearestNames.question(text ?? "", among: names)
            mistake(
                "unknown state '\(text ?? "")'\(question); the states are \(names.joined(separator: ", "))",
                at: node
            )
            return nil
        }
        if seconds != nil, name.defaultSeconds == nil {
            mistake("changes of '\(text)' are published at once; 'every' is for location and doctor", at: node)
        }
        if let seconds, seconds < 1 { mistake("'every' must be 1s or more", got: node) }
        return MQTTSettings.State(name: name, everySeconds: seconds ?? name.defaultSeconds)
    }

    fileprivate mutating func homeAssistantSettings(_ node: YAMLNode) -> MQTTSettings.HomeAssistant? {
        if let isOn = node.json?.boolValue { return isOn ? MQTTSettings.HomeAssistant() : nil }
        var home = MQTTSettings.HomeAssistant()
        _ = read(node, of: "'homeAssistant'", SettingsReader.homeAssistantKeys, into: &home, skippingNull: true)
        return home
    }

    fileprivate mutating func caller(_ node: YAMLNode, _ what: String) -> String? {
        guard let caller = string(node, what) else { return nil }
        if !FleetName.isValid(caller) { mistake("'caller' must be a name of \(FleetName.expectation)", got: node) }
        return caller
    }

    /// The number of seconds must fit MQTT's range.
    fileprivate mutating func session(_ node: YAMLNode, _ what: String) -> Double? {
        guard let seconds = seconds(node, what) else { return nil }
        guard (1...86_400 * 7).contains(seconds) else {
            mistake("'session' must be from 1s to 7d", got: node)
            return nil
        }
        return seconds.rounded()
    }
}
