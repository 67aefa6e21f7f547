import JSON

/// The components of values that can only be read, or are lights.
enum BoundComponents {
    /// A line is a binary sensor, all else a sensor, with its unit.
    /// - Parameter members: where its state is told.
    static func reading(_ name: String, _ declaration: JSONObject, _ members: JSONObject) -> Component {
        var members = members
        guard declaration["input"] == true, declaration["type"] == "boolean" else {
            members["value_template"] = "{{ value_json }}"
            if let unit = declaration["unit"] {
                members.merge(["unit_of_measurement": unit, "state_class": "measurement"])
                if unit == "°C" { members["device_class"] = "temperature" }
            }
            return Component("sensor", name, name, members)
        }
        members["value_template"] = "{{ 'ON' if value_json else 'OFF' }}"
        return Component("binary_sensor", name, name, members)
    }

    /// An LED is a light; nil for all else.
    /// - Parameter members: where its state is told, and where it is called.
    static func light(_ name: String, _ declaration: JSONObject, _ members: JSONObject) -> Component? {
        guard declaration["bound"] == "led", let command = members["command_topic"], let state = members["state_topic"]
        else {
            return nil
        }
        var members = members
        guard declaration["type"] != "boolean" else {
            members.merge(["payload_on": "[true]", "payload_off": "[false]"])
            members["state_value_template"] = "{{ '[true]' if value_json else '[false]' }}"
            return Component("light", name, name, members)
        }
        let low = declaration["minimum"]?.numberValue ?? 0
        let high = declaration["maximum"]?.numberValue ?? 100
        guard low == 0, high >= 1, let scale = Int64(exactly: high) else { return nil }
        let (on, off) = ("[\(scale)]", "[0]")
        members.merge([
            "payload_on": .string(on), "payload_off": .string(off),
            "state_value_template": .string("{{ '\(on)' if value_json > 0 else '\(off)' }}"),
            "brightness_command_topic": command, "brightness_command_template": "[{{ value }}]",
            "brightness_state_topic": state, "brightness_value_template": "{{ value_json }}",
            "brightness_scale": .integer(scale), "on_command_type": "brightness",
        ])
        return Component("light", name, name, members)
    }
}
