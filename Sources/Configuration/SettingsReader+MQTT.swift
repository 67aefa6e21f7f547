import Fleet
import JSON
import QuickConnect

extension SettingsReader {
    static let mqttKeys = [
        "broker", "tls", "user", "passwordFile", "device", "groups", "prefix", "commands", "events", "values", "states",
        "homeAssistant", "queue", "spread", "reconnectWithin", "session",
    ]

    mutating func mqtt(_ node: YAMLNode) -> MQTTSettings {
        var mqtt = MQTTSettings()
        let members = file.members(node, of: "'mqtt'", known: Self.mqttKeys)
        for (_, name, value) in members where !value.isNull { read(name, value, into: &mqtt) }
        if !members.contains(where: { $0.name == "broker" }) {
            file.mistake("'mqtt' needs a 'broker', such as broker.example.org", at: node)
        }
        return mqtt
    }

    private mutating func read(_ name: String, _ value: YAMLNode, into mqtt: inout MQTTSettings) {
        switch name {
        case "broker": readBroker(value, into: &mqtt)
        case "tls": mqtt.tls = tls(value)
        case "user": mqtt.user = file.string(value, "'user'")
        case "passwordFile": mqtt.passwordFile = path(value, name)
        case "device": mqtt.device = deviceName(value)
        case "groups": mqtt.groups = names(value, "'groups'", "a group")
        case "prefix": mqtt.prefix = prefix(value) ?? mqtt.prefix
        case "commands": mqtt.commands = commands(value)
        case "events": mqtt.events = events(value)
        case "values" where value.text == Self.ownValues: mqtt.publishesOwnValues = true
        case "values": mqtt.values = values(value)
        case "states": mqtt.states = states(value)
        case "homeAssistant": mqtt.homeAssistant = homeAssistant(value)
        case "queue": readQueue(value, into: &mqtt)
        case "spread": mqtt.spreadSeconds = file.duration(value, "'spread'")?.seconds ?? mqtt.spreadSeconds
        case "reconnectWithin":
            mqtt.reconnectSeconds = file.duration(value, "'reconnectWithin'")?.seconds ?? mqtt.reconnectSeconds
        default: mqtt.sessionSeconds = session(value) ?? mqtt.sessionSeconds
        }
    }

    private mutating func readBroker(_ node: YAMLNode, into mqtt: inout MQTTSettings) {
        guard let text = file.string(node, "'broker'") else { return }
        guard let address = HostAndPort(text, defaultPort: "0"), let port = Int(address.port) else {
            let expectation = "HOST or HOST:PORT, such as broker.example.org or [2001:db8::1]:8883"
            return file.mistake("'\(text)' is not \(expectation)", at: node)
        }
        mqtt.host = address.host
        mqtt.port = port == 0 ? nil : port
    }

    private mutating func tls(_ node: YAMLNode) -> MQTTSettings.TLS? {
        // With all defaults: the authorities that the system trusts.
        if let isOn = node.json?.boolValue { return isOn ? MQTTSettings.TLS() : nil }
        var tls = MQTTSettings.TLS()
        for (_, name, value) in file.members(node, of: "'tls'", known: ["ca", "certificate", "key"]) where !value.isNull
        {
            switch name {
            case "ca": tls.authority = path(value, name)
            case "certificate": tls.certificate = path(value, name)
            default: tls.key = path(value, name)
            }
        }
        if (tls.certificate == nil) != (tls.key == nil) {
            file.mistake("a client's certificate needs both 'certificate' and 'key'", at: node)
        }
        return tls
    }

    private mutating func deviceName(_ node: YAMLNode) -> String? {
        guard let name = file.string(node, "'device'") else { return nil }
        // This name begins the topics of groups.
        guard FleetName.isValid(name), name != FleetTopics.group else {
            file.mistake("'device' must be a name of \(FleetName.expectation), and not 'group'", got: node)
            return nil
        }
        return name
    }

    private mutating func names(_ node: YAMLNode, _ what: String, _ one: String) -> [String] {
        distinct(file.words(node, what), one).compactMap { name in
            if FleetName.isValid(name.value) { return name.value }
            file.mistake("'\(name.value)' is not a name of \(one): \(FleetName.expectation)", at: name.location)
            return nil
        }
    }

    private mutating func distinct(_ words: [Located<String>], _ what: String) -> [Located<String>] {
        var seen: Set<String> = []
        return words.filter { word in
            if seen.insert(word.value).inserted { return true }
            file.mistake("\(what) '\(word.value)' is listed twice", at: word.location)
            return false
        }
    }

    private mutating func prefix(_ node: YAMLNode) -> String? {
        guard let text = file.string(node, "'prefix'") else { return nil }
        let levels = text.split(separator: "/", omittingEmptySubsequences: false)
        guard levels.allSatisfy({ FleetName.isValid(String($0)) }) else {
            file.mistake(
                "'prefix' must be a topic such as qc or site/qc, of names of \(FleetName.expectation)",
                got: node
            )
            return nil
        }
        return text
    }

    private mutating func commands(_ node: YAMLNode) -> [String] {
        distinct(file.words(node, "'commands'"), "the command").compactMap { command in
            if FleetCommands.ofConnections.contains(command.value) {
                let what = "'\(command.value)' holds for a connection, and callers over a broker have none"
                file.mistake(what, at: command.location)
                return nil
            }
            return level(command) ? command.value : nil
        }
    }

    /// In place of a list: all that name this gateway themselves.
    private static let ownValues = "own"

    private mutating func values(_ node: YAMLNode) -> [String] {
        guard node.sequence != nil else {
            file.mistake("'values' must be a list, such as [a, b], or the word own", got: node)
            return []
        }
        let states = MQTTSettings.State.Name.allCases.map(\.rawValue)
        return distinct(file.words(node, "'values'"), "the value").compactMap { value in
            guard !states.contains(value.value) else {
                file.mistake("the value '\(value.value)' has the topic of a state", at: value.location)
                return nil
            }
            return level(value) ? value.value : nil
        }
    }

    /// Whether a name can be a level of a topic.
    private mutating func level(_ name: Located<String>) -> Bool {
        guard !MQTTSettings.isLevel(name.value) else { return true }
        file.mistake("'\(name.value)' cannot be part of a topic: no /, + and # may be in it", at: name.location)
        return false
    }

    private mutating func events(_ node: YAMLNode) -> [MQTTSettings.Event] {
        guard let items = node.sequence else {
            file.mistake("'events' must be a list, such as [doorbell, {event: alarm, qos: 1}]", got: node)
            return []
        }
        var events: [MQTTSettings.Event] = []
        for item in items {
            var event = MQTTSettings.Event(name: item.text ?? "")
            if item.text == nil {
                for (_, name, value) in file.members(item, of: "an event", known: ["event", "qos"]) where !value.isNull
                {
                    switch name {
                    case "event": event.name = file.string(value, "'event'") ?? ""
                    default: event.qos = file.integer(value, "'qos'", in: 0...1) ?? 0
                    }
                }
            }
            guard level(Located(event.name, at: file.location(item))) else { continue }
            if event.name == "location" {
                let what = "'location' is a state with an interval: states: [{state: location, every: 60s}]"
                file.mistake(what, at: item)
            } else if events.contains(where: { $0.name == event.name }) {
                file.mistake("the event '\(event.name)' is listed twice", at: item)
            } else {
                events.append(event)
            }
        }
        return events
    }

    private mutating func states(_ node: YAMLNode) -> [MQTTSettings.State] {
        guard let items = node.sequence else {
            file.mistake("'states' must be a list, such as [volume, {state: location, every: 60s}]", got: node)
            return []
        }
        var states: [MQTTSettings.State] = []
        for item in items {
            guard let state = state(item) else { continue }
            if states.contains(where: { $0.name == state.name }) {
                file.mistake("the state '\(state.name.rawValue)' is listed twice", at: item)
            } else {
                states.append(state)
            }
        }
        return states
    }

    private mutating func state(_ node: YAMLNode) -> MQTTSettings.State? {
        var text = node.text
        var seconds: Double?
        if text == nil {
            for (_, name, value) in file.members(node, of: "a state", known: ["state", "every"]) where !value.isNull {
                switch name {
                case "state": text = file.string(value, "'state'")
                default: seconds = file.duration(value, "'every'")?.seconds
                }
            }
        }
        let names = MQTTSettings.State.Name.allCases.map(\.rawValue)
        guard let text, let name = MQTTSettings.State.Name(rawValue: text) else {
            let question = NearestNames.question(text ?? "", among: names)
            file.mistake(
                "unknown state '\(text ?? "")'\(question); the states are \(names.joined(separator: ", "))",
                at: node
            )
            return nil
        }
        if seconds != nil, name.defaultSeconds == nil {
            file.mistake("changes of '\(text)' are published at once; 'every' is for location and doctor", at: node)
        }
        if let seconds, seconds < 1 { file.mistake("'every' must be 1s or more", got: node) }
        return MQTTSettings.State(name: name, everySeconds: seconds ?? name.defaultSeconds)
    }

    private mutating func homeAssistant(_ node: YAMLNode) -> MQTTSettings.HomeAssistant? {
        if let isOn = node.json?.boolValue { return isOn ? MQTTSettings.HomeAssistant() : nil }
        var home = MQTTSettings.HomeAssistant()
        for (_, name, value) in file.members(
            node,
            of: "'homeAssistant'",
            known: ["prefix", "caller", "name", "buttons"]
        )
        where !value.isNull {
            switch name {
            case "prefix": home.prefix = prefix(value) ?? home.prefix
            case "caller":
                guard let caller = file.string(value, "'caller'") else { continue }
                home.caller = caller
                if !FleetName.isValid(caller) {
                    file.mistake("'caller' must be a name of \(FleetName.expectation)", got: value)
                }
            case "name": home.name = file.string(value, "'name'")
            default: home.buttons = file.integer(value, "'buttons'", in: 0...1000) ?? home.buttons
            }
        }
        return home
    }

    private mutating func readQueue(_ node: YAMLNode, into mqtt: inout MQTTSettings) {
        for (_, name, value) in file.members(node, of: "'queue'", known: ["messages", "bytes"]) where !value.isNull {
            switch name {
            case "messages":
                mqtt.queueMessages = file.integer(value, "'messages'", in: 1...1_000_000) ?? mqtt.queueMessages
            default: mqtt.queueBytes = file.integer(value, "'bytes'", in: 65_536...(1 << 30)) ?? mqtt.queueBytes
            }
        }
    }

    /// The number of seconds must fit MQTT's range.
    private mutating func session(_ node: YAMLNode) -> Double? {
        guard let seconds = file.duration(node, "'session'")?.seconds else { return nil }
        guard (1...86_400 * 7).contains(seconds) else {
            file.mistake("'session' must be from 1s to 7d", got: node)
            return nil
        }
        return seconds.rounded()
    }
}
