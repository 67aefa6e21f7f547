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

    /// - Parameter before: the identifiers and platforms of the components in the previous message. A component is
    ///   removed by sending only its platform.
    func message(_ components: [Component], before: [String: String]) -> MQTTMessage {
        var all: JSONObject = [:]
        for component in components {
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

    /// `hall_door` with its `bell`, and `hall` with its `door_bell`, must have different ids: no name contains a colon.
    private func uniqueID(_ component: Component) -> String {
        "qc_\(device)\(device.contains("_") ? ":" : "_")\(component.id)"
    }
}
