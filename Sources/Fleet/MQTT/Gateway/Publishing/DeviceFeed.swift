import Configuration
import Fleet
import JSON

/// Converts the device's events and replies to messages, but only those that the settings list.
struct DeviceFeed: Sendable {
    typealias Publication = (message: MQTTMessage, kind: Backlog.Kind)

    private let settings: MQTTSettings
    /// What to publish of what the mappings declare.
    var names: PublishedNames
    private let topics: FleetTopics
    private let device: String
    /// What the last recording state was made from: mere progress is not a change.
    private var recording: JSONValue?

    /// Sensor values, of which only the newest counts.
    private static let sensors: Set<String> = ["accel"]
    /// Events that report a state, and its progress in between.
    private static let progress: Set<String> = ["playState", "recState"]
    /// The event for each state that the device reports by itself.
    private static let eventsOfStates: [MQTTSettings.State.Name: String] = [
        .volume: "volumeState", .recording: "recState",
    ]

    init(_ settings: MQTTSettings, _ topics: FleetTopics, device: String) {
        (self.settings, self.topics, self.device) = (settings, topics, device)
        names = PublishedNames(values: settings.values)
    }

    /// The events to subscribe to. A card that comes back tells its volume.
    var subscriptions: [String] {
        var names = settings.events.map(\.name) + self.names.subscriptions
        names += settings.states.compactMap { Self.eventsOfStates[$0.name] }
        var seen: Set<String> = []
        return names.filter { seen.insert($0).inserted }
    }

    static func event(of state: MQTTSettings.State.Name) -> String? { eventsOfStates[state] }

    func has(_ state: MQTTSettings.State.Name) -> Bool { settings.states.contains { $0.name == state } }

    // MARK: Events

    mutating func publications(ofEvent name: String, _ value: JSONValue) -> [Publication] {
        var publications: [Publication] = []
        if let qos = qos(ofEvent: name) {
            let topic = topics.topic(.event(name), of: device)
            let message = MQTTMessage(topic, Array(value.text.utf8), qos: Int32(qos))
            publications.append((message, Self.kind(of: name, value)))
        }
        if names.values.contains(name) { publications.append(state(name, value)) }
        for (state, event) in Self.eventsOfStates where event == name && has(state) {
            if state == .recording, !isChange(value) { continue }
            publications.append(self.state(state.rawValue, value))
        }
        return publications
    }

    /// Nil for what is not published.
    private func qos(ofEvent name: String) -> Int? {
        if let listed = settings.events.first(where: { $0.name == name }) { return listed.qos }
        return names.events.contains(name) || names.schedules.contains(name) ? 0 : nil
    }

    private static func kind(of name: String, _ value: JSONValue) -> Backlog.Kind {
        if sensors.contains(name) { return .newest(key: "") }
        guard progress.contains(name), let members = value.objectValue else { return .event }
        let key = [members["file"] ?? .null, members["state"] ?? .null]
        return .newest(key: JSONValue.array(key).text)
    }

    private mutating func isChange(_ value: JSONValue) -> Bool {
        let now: JSONValue = [value.objectValue?["file"] ?? .null, value.objectValue?["state"] ?? .null]
        defer { recording = now }
        return now != recording
    }

    // MARK: States

    /// A retained message with the current state.
    func state(_ name: String, _ value: JSONValue) -> Publication {
        (MQTTMessage(topics.topic(.state(name), of: device), Array(value.text.utf8), isRetained: true), .state)
    }

    /// The recording state, from the reply of `state`.
    mutating func recording(ofState answer: JSONValue) -> Publication {
        let first = answer.objectValue?["recording"]?.arrayValue?.first?.objectValue
        let file = first?["file"] ?? .null
        let value: JSONValue = ["file": file, "state": first == nil ? "stopped" : "recording"]
        recording = [file, value.objectValue?["state"] ?? .null]
        return state(MQTTSettings.State.Name.recording.rawValue, value)
    }
}
