import JSON
import QuickConnect

extension YAMLFile {
    /// Home Assistant's names for the kinds of entities that a device can have over MQTT.
    private static let platforms = [
        "alarm_control_panel", "binary_sensor", "button", "camera", "climate", "cover", "device_automation",
        "device_tracker", "event", "fan", "humidifier", "image", "lawn_mower", "light", "lock", "notify", "number",
        "scene",
        "select", "sensor", "siren", "switch", "tag", "text", "update", "vacuum", "valve", "water_heater",
    ]

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
            default: break
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
