import JSON

/// The rules in an entry's `verbs`: who may call it with a given text as its first parameter.
public struct VerbRules: Sendable {
    /// The verb that `can` uses for setting a value.
    public static let setting = "set"

    private let rules: [ByteName: AllowRule]
    /// A string with more bytes cannot be one of the verbs, however it is escaped.
    private let mostBytes: Int

    init(_ rules: [ByteName: AllowRule] = [:]) {
        self.rules = rules
        // A byte takes six bytes as an escape.
        mostBytes = 6 * (rules.keys.map(\.text.utf8.count).max() ?? 0) + 2
    }

    /// Whether there is no rule.
    public var isEmpty: Bool { rules.isEmpty }

    /// The verbs that have a rule, in order.
    public var all: [(verb: String, rule: AllowRule)] {
        rules.map { (verb: $0.key.text, rule: $0.value) }.sorted { $0.verb < $1.verb }
    }

    /// The rule of a verb; nil if it has none of its own.
    public subscript(verb: String) -> AllowRule? { rules[ByteName(verb)] }

    /// The rule that applies to a call, with its verb; nil if none does.
    func rule(for call: borrowing Call) -> (verb: String, rule: AllowRule)? {
        guard let verb = Self.verb(call.argument(0), mostBytes: mostBytes), let rule = self[verb] else { return nil }
        return (verb, rule)
    }

    /// A parameter as YAML writes it: a string, a whole number, or a truth value.
    private static func verb(_ parameter: Message, mostBytes: Int) -> String? {
        if case .text(let text) = parameter {
            switch text.kind {
            case .string: if text.count > mostBytes { return nil }
            // Of any length: a whole number may have any number of zeros after its decimal point.
            case .number, .boolean: break
            case .null, .array, .object: return nil
            }
        }
        let value = parameter.value
        if let text = value.stringValue { return text }
        if let number = value.integerValue { return "\(number)" }
        return value.boolValue.map { "\($0)" }
    }
}
