public import JSON
internal import QuickConnect

/// What `explain` answers, in words.
public struct Explanation {
    private let answer: JSONObject

    public init(_ answer: JSONObject) { self.answer = answer }

    public func text(width: Int) -> String {
        let name = answer["command"]?.stringValue ?? ""
        let title = "\(name)\(CommandListing.parameters(.object(answer)))"
        let help = answer["help"]?.stringValue.map { "\n" + $0.wrapped(to: width).joined(separator: "\n") } ?? ""
        return "\(title)\(help)\n\n" + Table.text(parameterRows + answerRows + stackRows + ruleRows, width: width)
    }

    private var parameterRows: [[String]] {
        if let value = answer["value"]?.objectValue { return [["value", Self.words(of: value)]] }
        guard let parameters = answer["parameters"]?.arrayValue else { return [["parameters", "not checked"]] }
        guard !parameters.isEmpty else { return [["parameters", "none"]] }
        return parameters.compactMap(\.objectValue).flatMap { parameter in
            let type = parameter["type"]?.stringValue ?? "any"
            var words = [parameter["optional"] == true ? "\(type), optional" : type]
            for key in ["minimum", "maximum", "maxLength", "default", "oneOf"] {
                if let value = parameter[key] { words.append("\(key) \(value.text)") }
            }
            if parameter["repeat"] == true { words.append("may be repeated") }
            let help = parameter["help"]?.stringValue.map { ": \($0)" } ?? ""
            let row = ["  \(parameter["name"]?.stringValue ?? "?")", words.joined(separator: ", ") + help]
            return [row] + Self.memberRows(of: parameter)
        }
    }

    /// A row for each member of an object.
    private static func memberRows(of parameter: JSONObject) -> [[String]] {
        (parameter["members"]?.objectValue ?? [:]).map { ["    \($0.name)", $0.value.stringValue ?? ""] }
    }

    /// What it answers.
    private var answerRows: [[String]] { answer["answers"]?.stringValue.map { [["answers", $0]] } ?? [] }

    /// What a value is, in words: `number, minimum 0, maximum 10, default 0, clamped`.
    private static func words(of value: JSONObject) -> String {
        var words = [value["type"]?.stringValue ?? "any"]
        for key in ["minimum", "maximum", "maxLength", "default", "oneOf"] {
            if let bound = value[key] { words.append("\(key) \(bound.text)") }
        }
        if value["clamp"] == true { words.append("clamped") }
        if value["keep"] == true { words.append("kept over restarts") }
        return words.joined(separator: ", ")
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
        if let rule = answer["set"]?.objectValue { rows.append(["set by", rule["rule"]?.stringValue ?? ""]) }
        let gateways = (answer["gateways"]?.arrayValue ?? []).compactMap(\.stringValue)
        if !gateways.isEmpty {
            rows.append(["on the lists of", "\(gateways.joined(separator: ", ")), whose users its rules name"])
        }
        for (verb, rule) in answer["verbs"]?.objectValue ?? [:] {
            rows.append(["  \(verb)", rule.objectValue?["rule"]?.stringValue ?? ""])
        }
        if let rule = answer["answeredBy"]?.objectValue {
            rows.append(["answered by", rule["rule"]?.stringValue ?? ""])
        }
        if let timeout = answer["timeout"]?.numberValue { rows.append(["timeout", "\(JSONValue.short(timeout)) s"]) }
        if let location = answer["location"]?.stringValue { rows.append(["mapped in", location]) }
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
        let number = count > 1 ? ", \(count) in all" : ""
        return "\(code) (\(age) s ago\(number)\(message == nil ? "; root and its caller see its text" : ""))"
    }
}
