import Glibc
import JSON
import Linux
import QuickConnect

/// One YAML file of the owner's, and the mistakes that were found in it.
///
/// Everything is checked when it is read. Mistakes are collected and reading continues, so that all are reported at
/// once.
struct YAMLFile {
    let path: String
    private(set) var mistakes: [ConfigurationMistake] = []
    /// What is odd in it, and may be right.
    private(set) var warnings: [ConfigurationMistake] = []
    /// Whether nothing was at the path, not even a link.
    private(set) var isGone = false
    /// What is in the file, where somebody has read it already.
    var text: String?

    /// A larger file cannot be one of settings or mappings, and would only cost time.
    private static let maximumBytes = 4 << 20

    /// The top of the file; nil if the file is empty or cannot be read, which is recorded as a mistake.
    mutating func root() -> YAMLNode? {
        let text: String
        switch self.text.map(Result.success) ?? FileText.read(path, maximumBytes: Self.maximumBytes) {
        case .success(let content): text = content
        case .failure(let problem):
            // A name is shown as text, and a file of that name is not there.
            let isNamedOtherwise = path.contains("\u{FFFD}") && !FileText.exists(path)
            isGone = problem.isMissing && !isNamedOtherwise && !FileText.isLink(path)
            let message = isNamedOtherwise ? "the name of this file is not UTF-8, so rename it" : problem.message
            mistake(message, at: SourceLocation(file: path, line: problem.line ?? 1, column: 1))
            return nil
        }
        do throws(YAMLMistake) {
            return try YAMLParser.parse(text)
        } catch {
            mistake(error.message, at: SourceLocation(file: path, line: error.line, column: error.column))
            return nil
        }
    }

    mutating func mistake(_ message: String, at location: SourceLocation) {
        mistakes.append(ConfigurationMistake(message, at: location))
    }

    mutating func mistake(_ message: String, at node: YAMLNode) { mistake(message, at: location(node)) }

    /// Records a value that does not fit, with what it is.
    mutating func mistake(_ expectation: String, got node: YAMLNode) {
        mistake("\(expectation); got \(node.gist)", at: node)
    }

    func location(_ node: YAMLNode) -> SourceLocation {
        SourceLocation(file: path, line: node.line, column: node.column)
    }

    // MARK: Shapes

    /// The members of a mapping; unknown keys are mistakes. An empty value counts as an empty mapping.
    /// - Parameter section: of an entry of the mappings: which one it is.
    mutating func members(
        _ node: YAMLNode,
        of what: String,
        known: [String]? = nil,
        section: String? = nil
    ) -> [(key: YAMLNode, name: String, value: YAMLNode)] {
        guard let mapping = node.mapping else {
            if !node.isNull { mistake("\(what) must be a mapping of keys to values", got: node) }
            return []
        }
        var members: [(YAMLNode, String, YAMLNode)] = []
        var before: String?
        for (key, value) in mapping {
            defer { before = value.text }
            guard let name = key.text else {
                mistake("a key of \(what) must be a word", got: key)
                continue
            }
            if let known, !known.contains(name) {
                // Each search takes time: a file of mistakes must not take minutes.
                var question = mistakes.count < 20 ? KeyPlaces.question(name, among: known) : ""
                if let section, mistakes.count < 20,
                    let advice = KeyPlaces.advice(name, in: section, Set(mapping.compactMap(\.key.text)))
                {
                    question = advice
                }
                // In braces, a comma ends the value: 5,5 is 5, and a key without a value.
                if let whole = before, value.isNull, [whole, name].allSatisfy({ Int($0) != nil }) {
                    question = ": write \(whole).\(name), with a point"
                }
                mistake("unknown key '\(name)' in \(what)\(question)", at: key)
                continue
            }
            members.append((key, name, value))
        }
        return members
    }

    /// False, with a mistake, if it is no mapping.
    mutating func mustBeMapping(_ node: YAMLNode, _ what: String, suchAs example: String) -> Bool {
        if node.mapping == nil { mistake("\(what) must be a mapping, such as \(example)", got: node) }
        return node.mapping != nil
    }

    mutating func string(_ node: YAMLNode, _ what: String) -> String? {
        guard let text = node.text, !node.isNull else {
            mistake("\(what) must be text", got: node)
            return nil
        }
        return text
    }

    mutating func bool(_ node: YAMLNode, _ what: String) -> Bool? {
        if let value = node.json?.boolValue { return value }
        mistake("\(what) must be true or false; got \(node.gist)\(YAMLScalar.note(ofNoBoolean: node.json))", at: node)
        return nil
    }

    mutating func number(_ node: YAMLNode, _ what: String) -> Double? {
        if let value = node.json?.numberValue { return value }
        mistake("\(what) must be a number", got: node)
        return nil
    }

    mutating func integer(_ node: YAMLNode, _ what: String, in range: ClosedRange<Int>) -> Int? {
        if let value = node.json?.integerValue, let number = Int(exactly: value), range.contains(number) {
            return number
        }
        mistake("\(what) must be a whole number from \(range.lowerBound) to \(range.upperBound)", got: node)
        return nil
    }

    /// A duration such as `500ms`, `30s` or `2m`.
    /// - Parameter example: one that fits there.
    mutating func duration(_ node: YAMLNode, _ what: String, suchAs example: String = "30s") -> Duration? {
        if let text = node.text, let duration = Duration(text: text) { return duration }
        // What is long enough behind a 1 is too short without it.
        let isShort = node.text.map { $0.first?.isNumber == true && Duration(text: "1\($0)") != nil } ?? false
        let expected = isShort ? "at least 1ms" : "a number and a unit (ms, s, m, h, d), such as \(example)"
        mistake("\(what) must be \(expected)", got: node)
        return nil
    }

    mutating func seconds(_ node: YAMLNode, _ what: String) -> Double? { duration(node, what)?.seconds }

    /// A path; a relative one is relative to the file's folder.
    mutating func filePath(_ node: YAMLNode, _ what: String) -> String? {
        guard let text = string(node, what) else { return nil }
        guard !text.isEmpty, !text.utf8.contains(0) else {
            mistake("\(what) must be a path", got: node)
            return nil
        }
        guard !text.hasPrefix("~") else {
            mistake("\(what) must be a whole path, such as /home/ann/media: ~ is not expanded", got: node)
            return nil
        }
        let folder = path.lastIndex(of: "/").map { path[..<$0] } ?? "."
        let name = text.hasPrefix("./") ? text.dropFirst(2) : text[...]
        return text.hasPrefix("/") ? text : "\(folder)/\(name)"
    }

    /// The path of a socket, which the kernel limits.
    mutating func socketPath(_ node: YAMLNode, _ what: String) -> String? {
        guard let path = filePath(node, what) else { return nil }
        if (try? UnixSocketAddress(path)) != nil { return path }
        let limit = UnixSocketAddress.maximumBytes
        mistake("\(what) must be a path of at most \(limit) bytes; \(path) has \(path.utf8.count)", at: node)
        return nil
    }

    /// Text with its position.
    mutating func located(_ node: YAMLNode, _ what: String) -> Located<String>? {
        string(node, what).map { Located($0, at: location(node)) }
    }

    /// One of a few words.
    mutating func choice<Choice: RawRepresentable & CaseIterable>(_ node: YAMLNode, _ what: String)
        -> Choice?
    where Choice.RawValue == String {
        guard let text = string(node, what) else { return nil }
        if let choice = Choice(rawValue: text) { return choice }
        let all = Choice.allCases.map(\.rawValue)
        mistake(
            "\(what) must be one of \(all.joined(separator: ", ")); got \(node.gist)\(NearestNames.question(text, among: all))",
            at: node
        )
        return nil
    }

    /// A list of words, each with its position.
    mutating func words(_ node: YAMLNode, _ what: String) -> [Located<String>] {
        guard let sequence = node.sequence else {
            if !node.isNull { mistake("\(what) must be a list, such as [a, b]", got: node) }
            return []
        }
        return sequence.compactMap { item in
            guard let text = item.text, !item.isNull else {
                if let pair = item.mapping?.first, item.mapping?.count == 1, let key = pair.0.text,
                    let value = pair.1.text
                {
                    mistake("\(what) must be a list of words: write \(key):\(value), without the space", at: item)
                } else {
                    mistake("\(what) must be a list of words", got: item)
                }
                return nil
            }
            return Located(text, at: location(item))
        }
    }

    mutating func json(_ node: YAMLNode, _ what: String) -> JSONValue? {
        if let value = node.json { return value }
        if let (node, text) = node.scalarWithoutValue {
            let says =
                YAMLScalar.hasLeadingZero(text)
                ? "is a text to some readers of YAML and a number to others: a text needs quotes, a number no 0 before it"
                : "is no value that JSON has; a text needs quotes"
            mistake("\(text) \(says)", at: node)
        } else {
            mistake("\(what) is not a value that JSON can hold", at: node)
        }
        return nil
    }
}

extension YAMLNode {
    /// Whether it is empty, `~` or `null`, in the cases of YAML's core schema.
    var isNull: Bool {
        guard let text, isPlain else { return false }
        return ["", "~", "null", "Null", "NULL"].contains(text)
    }

    /// A short description of the node, for messages.
    var gist: String {
        switch content {
        case .scalar(let text, _):
            switch json {
            case .null: "nothing"
            // As it is written: 0o17 and 007 are known by that.
            case .integer, .number: "the number \(text.shortened)"
            case nil: text.shortened
            case let value?: value.gist
            }
        case .sequence(let items): items.isEmpty ? "an empty list" : "a list"
        case .mapping: "a mapping"
        }
    }

    /// The node as JSON; nil if it is larger or deeper than a setting may be, or has a number that JSON cannot hold.
    var json: JSONValue? {
        var budget = 1000
        return json(&budget, depth: 16)
    }

    private func json(_ budget: inout Int, depth: Int) -> JSONValue? {
        budget -= 1
        guard budget > 0, depth > 0 else { return nil }
        switch content {
        case .scalar(let text, let isPlain): return isNull ? .null : isPlain ? YAMLScalar.value(text) : .string(text)
        case .sequence(let sequence):
            var items: [JSONValue] = []
            for node in sequence {
                guard let item = node.json(&budget, depth: depth - 1) else { return nil }
                items.append(item)
            }
            return .array(items)
        case .mapping(let mapping):
            var members = JSONObject()
            for (key, node) in mapping {
                guard let name = key.text, let value = node.json(&budget, depth: depth - 1) else {
                    return nil
                }
                members[name] = value
            }
            return .object(members)
        }
    }
}

extension YAMLFile {
    /// Home Assistant's names for the kinds of entities that a device can have over MQTT.
    private static let platforms = [
        "alarm_control_panel", "binary_sensor", "button", "camera", "climate", "cover", "device_automation",
        "device_tracker", "event", "fan", "humidifier", "image", "lawn_mower", "light", "lock", "notify", "number",
        "scene",
        "select", "sensor", "siren", "switch", "tag", "text", "update", "vacuum", "valve", "water_heater",
    ]

    /// Home Assistant's names for what its entities have, but for those of a single platform that are like no other.
    private static let discoveryKeys = """
        availability availability_mode availability_template availability_topic brightness_command_template \
        brightness_command_topic brightness_scale brightness_state_topic brightness_value_template code command_template \
        command_topic default_entity_id device device_class enabled_by_default encoding entity_category entity_picture \
        event_types expire_after force_update icon initial json_attributes_template json_attributes_topic \
        last_reset_value_template max min mode modes name object_id off_delay on_command_type optimistic options origin \
        pattern payload_available payload_close payload_home payload_lock payload_not_available payload_not_home \
        payload_off payload_on payload_open payload_press payload_reset payload_stop payload_unlock platform qos retain \
        schema source_type stat_cla stat_off stat_on stat_t stat_tpl state_class state_closed state_closing \
        state_locked state_off state_on state_open state_opening state_topic state_unlocked state_value_template \
        step suggested_display_precision unit_of_measurement value_template
        """.split(separator: " ").map(String.init)

    /// `{platform: …, …}`: members of a component of Home Assistant's discovery; or false, for none.
    mutating func homeAssistant(_ node: YAMLNode) -> JSONValue? {
        if node.json?.boolValue == false { return .bool(false) }
        guard node.mapping != nil else {
            mistake("'homeAssistant' must be a mapping, such as {platform: button, name: Bell}, or false", got: node)
            return nil
        }
        for (key, name, value) in members(node, of: "'homeAssistant'") {
            switch name {
            case "platform": checkPlatform(value)
            case "unique_id": mistake("'unique_id' is made of the device's name and the command's", at: key)
            case _ where Self.discoveryKeys.contains(name): break
            default:
                // Each version knows more of them, and passes over the others without a word.
                let near = NearestNames.question(name, among: Self.discoveryKeys, within: 2)
                guard !near.isEmpty, warnings.count < 20 else { continue }
                let says = "no entity of Home Assistant has '\(name.shortened)', as far as is known\(near)"
                warnings.append(ConfigurationMistake(says, at: location(key)))
            }
        }
        return json(node, "'homeAssistant'")
    }

    private mutating func checkPlatform(_ node: YAMLNode) {
        guard let platform = string(node, "'platform'"), !Self.platforms.contains(platform) else { return }
        let question = NearestNames.question(platform, among: Self.platforms)
        mistake("Home Assistant has no platform '\(platform)'\(question)", at: node)
    }
}
