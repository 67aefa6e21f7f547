import Configuration
import Fleet
import JSON

/// The one retained message that describes the device to Home Assistant.
struct Discovery: Sendable {
    let home: MQTTSettings.HomeAssistant
    let topics: FleetTopics
    let device: String
    let version: String

    var topic: String { Self.topic(home, device) }

    static func topic(_ home: MQTTSettings.HomeAssistant, _ device: String) -> String {
        "\(home.prefix)/device/qc_\(Component.identifier(device))/config"
    }

    /// The message that first removes what has another platform now, if anything does. Home Assistant would keep both: one
    /// message cannot say of an identifier that it is gone and there.
    func removal(_ components: [Component], before: [String: String]) -> MQTTMessage? {
        let (changed, others) = split(components, before)
        guard !changed.isEmpty else { return nil }
        var message = message(others, before: before)
        message.isRetained = false
        return message
    }

    /// - Parameter before: the identifiers and platforms of the components in the previous message. A component is
    ///   removed by sending only its platform.
    func message(_ components: [Component], before: [String: String]) -> MQTTMessage {
        var all: JSONObject = [:]
        let (changed, others) = split(components, before)
        // Home Assistant reads a message up to the first component that it still has to do with.
        for component in changed + others {
            var members = component.members
            members["unique_id"] = .string(uniqueID(component))
            all[component.id] = .object(members)
        }
        for (id, platform) in before.sorted(by: { $0.key < $1.key }) where all[id] == nil {
            all[id] = ["platform": .string(platform)]
        }
        let json: JSONValue = [
            "device": [
                "identifiers": [.string("qc_\(device)")], "name": .string(home.name ?? device),
                "manufacturer": "QuickConnect", "sw_version": .string(version),
            ],
            "origin": ["name": "quickconnect-mqtt", "sw_version": .string(version)],
            "availability": [["topic": .string(topics.topic(.status, of: device))]],
            "components": .object(all),
        ]
        return MQTTMessage(topic, Array(json.text.utf8), isRetained: true)
    }

    /// Those whose platform is not what it was, and all others.
    private func split(_ components: [Component], _ before: [String: String]) -> ([Component], [Component]) {
        let isChanged = { (component: Component) in
            before[component.id, default: component.platform] != component.platform
        }
        return (components.filter(isChanged), components.filter { !isChanged($0) })
    }

    /// `hall_door` with its `bell`, and `hall` with its `door_bell`, must have different ids: no name contains a colon.
    private func uniqueID(_ component: Component) -> String {
        "qc_\(device)\(device.contains("_") ? ":" : "_")\(component.id)"
    }
}
