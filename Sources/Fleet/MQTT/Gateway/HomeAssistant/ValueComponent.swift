import JSON

/// The entity of a value, by its type, by what it is bound to, and by whether Home Assistant may set it.
struct ValueComponent {
    let name: String
    let declaration: JSONObject
    /// Where its state is told.
    let state: JSONValue
    /// What calls it; nil if Home Assistant can only read it.
    let call: JSONObject?

    /// The most characters that a state has in Home Assistant.
    private static let longest: Int64 = 255
    /// Home Assistant requires bounds for a number. These are of the integers that JavaScript has exactly.
    private static let widest: Int64 = 1 << 53 - 1

    private var type: String? { declaration["type"]?.stringValue }

    var component: Component {
        guard let call else { return reading }
        var members = told
        members.merge(call)
        return declaration["bound"] == "led" ? light(members) ?? control(members) : control(members)
    }

    private var told: JSONObject { ["state_topic": state, "qos": 1] }

    // MARK: To be set

    private func control(_ members: JSONObject) -> Component {
        var members = members
        members["unit_of_measurement"] = declaration["unit"]
        switch (type, declaration["oneOf"]?.arrayValue) {
        case ("string", let choices?) where choices.allSatisfy(Self.isState):
            members.merge([
                "options": .array(choices), "value_template": "{{ value_json }}",
                "command_template": "[{{ value | tojson }}]",
            ])
            return Component("select", name, name, members)
        case ("string", nil):
            let most = min(declaration["maxLength"]?.integerValue ?? Self.longest, Self.longest)
            members.merge([
                "value_template": .string("{{ (value_json or '')[:\(most)] }}"),
                "command_template": "[{{ value | tojson }}]", "max": .integer(most),
            ])
            members.merge(whole)
            return Component("text", name, name, members)
        case ("boolean", _):
            members.merge([
                "payload_on": "[true]", "payload_off": "[false]", "state_on": "on", "state_off": "off",
                "value_template": "{{ 'on' if value_json else 'off' }}",
            ])
            return Component("switch", name, name, members)
        case ("number", _), ("integer", _):
            members.merge(number)
            return Component("number", name, name, members)
        default: return reading
        }
    }

    private static func isState(_ choice: JSONValue) -> Bool {
        (choice.stringValue?.unicodeScalars.count ?? 0) <= longest
    }

    private var number: JSONObject {
        let (low, high) = (declaration["minimum"], declaration["maximum"])
        let widest = Double(Self.widest)
        let least = low?.numberValue ?? min(-widest, (high?.numberValue ?? 0) - widest)
        let most = high?.numberValue ?? max(widest, least + widest)
        let isInteger = type == "integer"
        // Home Assistant has no finer step.
        let step: JSONValue = isInteger ? 1 : most - least <= 1 ? 0.001 : 0.01
        return [
            "min": low ?? .number(least), "max": high ?? .number(most), "step": step, "mode": "box",
            "value_template": "{{ value_json }}",
            "command_template": isInteger ? "[{{ value | int }}]" : "[{{ value }}]",
        ]
    }

    /// An LED; nil where its bounds are not those of a brightness.
    private func light(_ members: JSONObject) -> Component? {
        var members = members
        guard type != "boolean" else {
            members.merge(["payload_on": "[true]", "payload_off": "[false]"])
            members["state_value_template"] = "{{ '[true]' if value_json else '[false]' }}"
            return Component("light", name, name, members)
        }
        let low = declaration["minimum"]?.numberValue ?? 0
        let high = declaration["maximum"]?.numberValue ?? 100
        guard low == 0, high >= 1, let scale = Int64(exactly: high) else { return nil }
        let (on, off) = ("[\(scale)]", "[0]")
        members["brightness_command_topic"] = members["command_topic"]
        members.merge([
            "payload_on": .string(on), "payload_off": .string(off),
            "state_value_template": .string("{{ '\(on)' if value_json > 0 else '\(off)' }}"),
            "brightness_command_template": "[{{ value }}]", "brightness_state_topic": state,
            "brightness_value_template": "{{ value_json }}", "brightness_scale": .integer(scale),
            "on_command_type": "brightness",
        ])
        return Component("light", name, name, members)
    }

    // MARK: To be read

    private var reading: Component {
        var members = told
        switch type {
        case "boolean":
            members["value_template"] = "{{ 'ON' if value_json else 'OFF' }}"
            return Component("binary_sensor", name, name, members)
        case "number", "integer":
            members["value_template"] = "{{ value_json }}"
            if let unit = declaration["unit"] {
                members.merge(["unit_of_measurement": unit, "state_class": "measurement"])
                if unit == "°C" { members["device_class"] = "temperature" }
            }
        case "string":
            members["value_template"] = .string("{{ value_json[:\(Self.longest)] if value_json else value_json }}")
            members.merge(whole)
        default:
            members["value_template"] = .string("{{ value[:\(Self.longest)] if value_json is not none else none }}")
            members.merge(whole)
        }
        return Component("sensor", name, name, members)
    }

    /// What does not fit in a state is an attribute.
    private var whole: JSONObject {
        if let most = declaration["maxLength"]?.integerValue, most <= Self.longest { return [:] }
        return ["json_attributes_topic": state, "json_attributes_template": "{{ {'value': value_json} | tojson }}"]
    }
}
