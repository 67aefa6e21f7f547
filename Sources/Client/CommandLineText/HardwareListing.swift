package import JSON

/// What `hardware` answers, for people.
package enum HardwareListing {
    /// A table for each kind that there is, and what to write to use it.
    package static func text(_ found: JSONObject) -> String {
        let parts = [gpio(found), leds(found), pulses(found), sensors(found), inputs(found), refused(found)].compactMap
        { $0 }
        guard !parts.isEmpty else {
            return """
                This machine shows no GPIO chip, no LED, no chip that makes pulses, no sensor and no reader.
                With --simulate a mapping may name any, and «quickconnect simulate NAME true» moves it.
                """
        }
        return parts.joined(separator: "\n\n")
    }

    private static func rows(_ found: JSONObject, _ key: String) -> [JSONObject] {
        (found[key]?.arrayValue ?? []).compactMap(\.objectValue)
    }

    private static func text(_ value: JSONValue?) -> String {
        value?.stringValue ?? value?.numberValue.map(JSONValue.short) ?? "-"
    }

    private static func gpio(_ found: JSONObject) -> String? {
        let lines = rows(found, "gpio")
        guard !lines.isEmpty else { return nil }
        let table = Table.columns(
            [["GPIO LINE", "CHIP", "NUMBER", "USED BY"]]
                + lines.map { [text($0["name"]), text($0["chip"]), text($0["line"]), text($0["consumer"])] },
            right: [2]
        )
        let free =
            lines.first { $0["consumer"] == .null && $0["name"] != .null } ?? lines.first { $0["consumer"] == .null }
        guard let free else { return table }
        let place =
            free["name"]?.stringValue.map { "line: \(JSONValue.string($0).text)" }
            ?? "chip: \(JSONValue.string(text(free["chip"])).text), line: \(text(free["line"]))"
        return """
            \(table)
              bell: {value: {type: boolean, gpio: {\(place), bias: pull-up, activeLow: true, debounce: 20ms}}}
              lamp: {value: {type: boolean, gpio: {\(place), output: true}}}
            """
    }

    private static func leds(_ found: JSONObject) -> String? {
        let leds = rows(found, "leds")
        guard let first = leds.first else { return nil }
        let table = Table.columns([["LED", "LEVELS"]] + leds.map { [text($0["name"]), text($0["max"])] }, right: [1])
        let name = JSONValue.string(text(first["name"])).text
        return "\(table)\n  light: {value: {type: number, unit: \"%\", led: \(name)}}"
    }

    private static func pulses(_ found: JSONObject) -> String? {
        let chips = rows(found, "pwm")
        guard let first = chips.first else { return nil }
        let table = Table.columns(
            [["PULSES", "CHANNELS"]] + chips.map { [text($0["chip"]), text($0["channels"])] },
            right: [1]
        )
        let example =
            "fan: {value: {type: number, unit: \"%\", pwm: {chip: \(text(first["chip"])), channel: 0, frequency: 25kHz}}}"
        return "\(table)\n  \(example)"
    }

    private static func sensors(_ found: JSONObject) -> String? {
        let sensors = rows(found, "sensors")
        guard !sensors.isEmpty else { return nil }
        let table = Table.columns(
            [["SENSOR", "INPUT", "NOW", "", "LABEL"]]
                + sensors.map { sensor in
                    ["chip", "input", "value", "unit", "label"].map { key in
                        sensor[key] == .null ? "" : text(sensor[key])
                    }
                },
            right: [2]
        )
        // One of each kind whose numbers mean something, and whose name is its own.
        var kinds: Set<Substring> = []
        let names = Dictionary(grouping: sensors) { [text($0["chip"]), text($0["input"])] }
        let lines = sensors.compactMap { sensor -> String? in
            let (chip, input, unit) = (text(sensor["chip"]), text(sensor["input"]), text(sensor["unit"]))
            let kind = input.prefix(while: \.isLetter)
            guard !unit.isEmpty, names[[chip, input]]?.count == 1, kinds.insert(kind).inserted else { return nil }
            let source = "sensor: {chip: \(JSONValue.string(chip).text), input: \(input)}"
            let (name, step) = kind == "temp" ? ("warmth", ", step: 0.5") : ("\(kind)", "")
            return "\n  \(name): {value: {type: number, unit: \"\(unit)\", \(source), every: 10s\(step)}}"
        }
        return table + lines.joined()
    }

    private static func inputs(_ found: JSONObject) -> String? {
        let names = (found["inputs"]?.arrayValue ?? []).compactMap(\.stringValue)
        guard let first = names.first else { return nil }
        return """
            \(Table.columns([["READER, KEYS"]] + names.map { [$0] }))
              card: {event: {reader: {device: \(JSONValue.string(first).text)}}}
              remote: {event: {keys: {device: \(JSONValue.string(first).text)}}}
              sudo quickconnect setup readers
            """
    }

    private static func refused(_ found: JSONObject) -> String? {
        let chips = rows(found, "refused")
        guard !chips.isEmpty else { return nil }
        let lines = chips.map { "\(text($0["path"])) cannot be opened: \(text($0["message"]))" }
        return lines.joined(separator: "\n") + "\n  sudo quickconnect setup gpio"
    }
}
