package import JSON
internal import Linux
internal import QuickConnect

/// What `explain` answers, in words.
package struct Explanation {
    private let answer: JSONObject

    package init(_ answer: JSONObject) { self.answer = answer }

    package func text(width: Int) -> String {
        let name = answer["command"]?.stringValue ?? ""
        let title = "\(name)\(CommandListing.parameters(.object(answer)))".escapingControls
        let help = answer["help"]?.stringValue.map { "\n" + $0.wrapped(to: width).joined(separator: "\n") } ?? ""
        return "\(title)\(help)\n\n" + Table.text(parameterRows + answerRows + stackRows + ruleRows, width: width)
    }

    private var parameterRows: [[String]] {
        if let value = answer["value"]?.objectValue {
            return [["value", Self.words(of: value)]] + Self.rowsInside(of: value, depth: 1) + timeRows(of: value)
        }
        if let event = answer["event"]?.objectValue {
            return [["event", Self.words(of: event)]] + Self.rowsInside(of: event, depth: 1)
        }
        if let schedule = answer["schedule"]?.objectValue { return Self.rows(of: schedule) }
        guard let parameters = answer["parameters"]?.arrayValue else { return [["parameters", "not checked"]] }
        guard !parameters.isEmpty else { return [["parameters", "none"]] }
        return parameters.flatMap { Self.rows($0.objectValue?["name"]?.stringValue ?? "?", $0, depth: 1) }
    }

    /// How an output is set for a while.
    private func timeRows(of value: JSONObject) -> [[String]] {
        guard value["bound"] != nil, value["input"] != true else { return [] }
        let name = answer["command"]?.stringValue ?? ""
        let full = value["type"] == "boolean" ? "true" : value["maximum"].map(\.text) ?? "1"
        let time = ["for a time", "\(name) [\(full), {\"for\": \"5s\"}]: then its default"]
        guard value["type"] == "boolean" else { return [time] }
        return [time, ["in a pattern", "\(name) [[200, 100, 200]]: on, off, on, in ms"]]
    }

    /// A row for what is declared or described under a name, and one for each member inside of it.
    private static func rows(_ name: String, _ declaration: JSONValue, depth: Int) -> [[String]] {
        let title = String(repeating: "  ", count: depth) + name
        guard let declared = declaration.objectValue else { return [[title, declaration.stringValue ?? ""]] }
        let help = declared["help"]?.stringValue.map { ": \($0)" } ?? ""
        return [[title, description(of: declared) + help]] + rowsInside(of: declared, depth: depth + 1)
    }

    /// The members of an object, or of the objects in an array.
    private static func rowsInside(of declared: JSONObject, depth: Int) -> [[String]] {
        let items = declared["items"]?.objectValue.map { rowsInside(of: $0, depth: depth) } ?? []
        return items + (declared["members"]?.objectValue ?? [:]).flatMap { rows($0.name, $0.value, depth: depth) }
    }

    /// `integer, optional, minimum 1, maximum 9`.
    private static func description(of declared: JSONObject) -> String {
        if declared["oneOf"] == [nil] { return "null" }
        var words = [type(of: declared)] + bounds(of: declared)
        if declared["optional"] == true { words.insert("optional", at: 1) }
        if declared["repeat"] == true { words.append("may be repeated") }
        return words.joined(separator: ", ")
    }

    private static func type(of declared: JSONObject) -> String {
        let type = declared["type"]?.stringValue ?? "any"
        guard let items = declared["items"]?.objectValue else { return type }
        return type == "array" ? "array of \(description(of: items))" : "\(type), arrays of \(description(of: items))"
    }

    /// What it answers, and what it does at worst.
    private var answerRows: [[String]] {
        var rows = answer["answers"]?.stringValue.map { [["answers", $0]] } ?? []
        if answer["value"] == nil, let result = answer["result"], result != .null {
            rows += Self.rows("result", result, depth: 0)
        }
        if let effect = answer["effect"]?.stringValue.flatMap(CommandEffect.init) {
            rows.append(["effect", "\(effect.rawValue): \(effect.words)"])
        }
        return rows
    }

    /// What a value is, in words: `number, minimum 0, maximum 10, default 0, clamped`.
    private static func words(of value: JSONObject) -> String {
        var words = [type(of: value)] + bounds(of: value)
        if value["clamp"] == true { words.append("clamped") }
        if value["keep"] == true { words.append("kept over restarts") }
        if let unit = value["unit"]?.stringValue { words.append("in \(unit)") }
        if let device = value["device"]?.stringValue {
            words.append("from the input device \(device)")
        } else if let bound = (value["hardware"] ?? value["bound"])?.stringValue {
            words.append(value["input"] == true ? "read from \(bound)" : "bound to \(bound)")
        }
        if value["lease"] != nil { words.append("returns to its default when the connection ends that has set it") }
        if value["last"] == true { words.append("a call returns the last one") }
        return words.joined(separator: ", ")
    }

    /// When it runs, what it calls, and how a caller runs it.
    private static func rows(of schedule: JSONObject) -> [[String]] {
        var rows = [["runs", ScheduleTable.words(of: schedule)]]
        if let call = schedule["call"]?.arrayValue, let command = call.first?.stringValue {
            rows.append(["calls", ([command] + call.dropFirst().map(\.text)).joined(separator: " ")])
        }
        return rows + [["  run", "runs it now"]]
    }

    private static func bounds(of value: JSONObject) -> [String] {
        let keys = ["minimum", "maximum", "maxLength"] + (value["input"] == true ? [] : ["default"]) + ["oneOf"]
        return keys.compactMap { key in value[key].map { "\(key) \($0.text)" } }
    }

    private var stackRows: [[String]] {
        Phase.allCases.compactMap { phase in
            let names = (answer[phase.rawValue]?.arrayValue ?? []).compactMap(\.stringValue)
            return names.isEmpty ? nil : [phase.rawValue, names.joined(separator: " → ")]
        }
    }

    private var ruleRows: [[String]] {
        let rule = answer["allow"]?.objectValue
        var rows = [["allowed to", rule?["rule"]?.stringValue ?? "everybody who may connect"]]
        if let rule = answer["set"]?.objectValue {
            rows.append([answer["schedule"] == nil ? "set by" : "run by", rule["rule"]?.stringValue ?? ""])
        }
        if answer["event"] != nil {
            rows.append(["posted by", answer["post"]?.objectValue?["rule"]?.stringValue ?? "nobody but the device"])
        }
        let gateways = (answer["gateways"]?.arrayValue ?? []).compactMap(\.stringValue)
        if !gateways.isEmpty {
            rows.append(["on the lists of", "\(gateways.joined(separator: ", ")), whose users its rules name"])
        }
        for (gateway, why) in answer["unlisted"]?.objectValue ?? [:] {
            rows.append(["not through", "\(gateway): \(why.stringValue ?? "")"])
        }
        for (verb, rule) in answer["verbs"]?.objectValue ?? [:] {
            rows.append(["  \(verb)", rule.objectValue?["rule"]?.stringValue ?? ""])
        }
        if let rule = answer["answeredBy"]?.objectValue {
            rows.append(["answered by", rule["rule"]?.stringValue ?? ""])
        }
        if let timeout = answer["timeout"]?.numberValue { rows.append(["timeout", "\(JSONValue.short(timeout)) s"]) }
        let places = (answer["locations"]?.arrayValue ?? []).compactMap(\.stringValue)
        if !places.isEmpty { rows.append(["mapped in", places.joined(separator: ", ")]) }
        if let error = answer["lastError"]?.objectValue {
            rows.append(["last error", Self.words(ofError: error)])
        }
        return rows
    }

    /// `notFound: no file x (3 s ago, 2 since the start)`; what it says is told only to root and to whose call it was.
    private static func words(ofError error: JSONObject) -> String {
        let age = error["secondsAgo"]?.integerValue ?? 0
        let count = error["count"]?.integerValue ?? 1
        let message = error["message"]?.stringValue
        let code = "\(error["code"]?.stringValue ?? "")\(message.map { ": \($0)" } ?? "")"
        let place = error["place"]?.stringValue.map { ", \($0)" } ?? ""
        let number = count > 1 ? ", \(count) in all" : ""
        return "\(code) (\(age) s ago\(number)\(place)\(message == nil ? "; root and its caller see its text" : ""))"
    }
}
