public import JSON

/// One declared parameter of a command.
public struct Parameter: Sendable, Hashable {
    public enum Kind: String, Sendable, CaseIterable {
        case string, integer, number, boolean, object, array, any
    }

    public var name: String
    public var kind: Kind
    public var isOptional = false
    /// What stands in for an optional one that is left out.
    public var defaultValue: JSONValue?
    public var minimum: Double?
    public var maximum: Double?
    /// The longest string, in characters.
    public var maxLength: Int?
    public var oneOf: [JSONValue]?
    /// Whether it may be given any number of times more. Only the last one may.
    public var repeats = false
    public var help: String?

    public init(_ name: String, _ kind: Kind) {
        self.name = name
        self.kind = kind
    }

    /// What a value must be, in words: `an integer of at least -1`.
    public var expectation: String {
        if let oneOf { return "one of \(oneOf.map(\.text).joined(separator: ", "))" }
        let noun =
            switch kind {
            case .string: maxLength.map { "a string of at most \($0) characters" } ?? "a string"
            case .integer: "an integer"
            case .number: "a number"
            case .boolean: "true or false"
            case .object: "an object"
            case .array: "an array"
            case .any: "a value"
            }
        switch (minimum, maximum) {
        case (let low?, let high?): return "\(noun) from \(Self.plain(low)) to \(Self.plain(high))"
        case (let low?, nil): return "\(noun) of at least \(Self.plain(low))"
        case (nil, let high?): return "\(noun) of at most \(Self.plain(high))"
        case (nil, nil): return noun
        }
    }

    /// Whether a value may stand for the parameter.
    public func fits(_ value: JSONValue) -> Bool { accept(value) != nil }

    /// The value as the command objects see it, or nil where it does not fit.
    func accept(_ value: JSONValue) -> JSONValue? {
        guard let value = typed(value) else { return nil }
        if let oneOf, !oneOf.contains(where: { $0.isSame(as: value) }) { return nil }
        if let number = value.numberValue {
            if let minimum, number < minimum { return nil }
            if let maximum, number > maximum { return nil }
        }
        if let maxLength, let text = value.stringValue, text.count > maxLength { return nil }
        return value
    }

    private func typed(_ value: JSONValue) -> JSONValue? {
        let fits =
            switch kind {
            case .string: value.stringValue != nil
            case .integer: value.integerValue != nil
            case .number: value.numberValue != nil
            case .boolean: value.boolValue != nil
            case .object: value.objectValue != nil
            case .array: value.arrayValue != nil
            case .any: true
            }
        guard fits else { return .none }
        // JavaScript writes a whole number as 3, other languages as 3.0: both are the integer 3.
        return kind == .integer ? value.integerValue.map(JSONValue.integer) : value
    }

    private static func plain(_ number: Double) -> String {
        Int64(exactly: number).map { "\($0)" } ?? "\(number)"
    }
}

/// One parameter that does not fit: where, as a JSON pointer into the parameter array, and what was expected.
public struct FieldProblem: Sendable, Hashable {
    public var field: String
    public var expected: String

    public init(field: String, expected: String) {
        self.field = field
        self.expected = expected
    }
}

extension CommandError {
    /// `invalid`, with all failing fields at once: `"fields": [{"field": "/0", "expected": "an integer"}, …]`.
    public static func invalid(_ problems: [FieldProblem]) -> CommandError {
        let sentence = problems.map { "\($0.field.isEmpty ? "parameters" : $0.field): expected \($0.expected)" }
        return CommandError(
            .invalid,
            sentence.joined(separator: "; "),
            details: [
                "fields": .array(
                    problems.map { ["field": .string($0.field), "expected": .string($0.expected)] }
                )
            ]
        )
    }

    /// `invalid` for one field, given as a JSON pointer into the parameter array.
    public static func invalid(_ field: String, expected: String) -> CommandError {
        .invalid([FieldProblem(field: field, expected: expected)])
    }
}

/// The declared parameters of a command.
public struct ParameterList: Sendable, Hashable {
    public let parameters: [Parameter]

    public init(_ parameters: [Parameter]) { self.parameters = parameters }

    /// The arguments in the declared places: defaults filled in, `null` for what was left out, repeated ones at
    /// the end. Throws `invalid` with every failing field.
    public func arguments(from sent: [JSONValue]) throws(CommandError) -> [JSONValue] {
        if sent.isEmpty, parameters.isEmpty { return [] }
        var problems: [FieldProblem] = []
        var arguments: [JSONValue] = []
        var rest = sent[...]
        let trailing = trailingObject(in: sent)
        if trailing != nil { rest.removeLast() }
        for (index, parameter) in parameters.enumerated() {
            if let trailing, trailing.parameter == index {
                arguments.append(check(sent[trailing.sent], at: trailing.sent, parameter, &problems))
            } else {
                arguments.append(check(rest.first, at: index, parameter, &problems))
                rest = rest.dropFirst()
            }
        }
        if let last = parameters.last, last.repeats {
            for (index, value) in zip(rest.indices, rest) {
                arguments.append(check(value, at: index, last, &problems))
            }
        } else {
            problems += rest.indices.map { FieldProblem(field: "/\($0)", expected: surplus) }
        }
        guard problems.isEmpty else { throw .invalid(problems) }
        return arguments
    }

    private var surplus: String {
        switch parameters.count {
        case 0: "nothing (the command takes no parameters)"
        case 1: "nothing (the command takes one parameter)"
        default: "nothing (the command takes at most \(parameters.count) parameters)"
        }
    }

    /// Where an object at the end fills the last parameter of type object, past optional ones left out before it.
    private func trailingObject(in sent: [JSONValue]) -> (sent: Int, parameter: Int)? {
        guard let last = sent.last, last.objectValue != nil,
            let place = parameters.lastIndex(where: { $0.kind == .object }), place >= sent.count,
            parameters[(sent.count - 1)..<place].allSatisfy({ $0.isOptional && $0.kind != .any })
        else { return nil }
        return (sent.count - 1, place)
    }

    private func check(
        _ value: JSONValue?,
        at index: Int,
        _ parameter: Parameter,
        _ problems: inout [FieldProblem]
    ) -> JSONValue {
        if parameter.isOptional, (value ?? .null) == .null, parameter.kind != .any || value == nil {
            return parameter.defaultValue ?? .null
        }
        guard let value else {
            problems.append(FieldProblem(field: "/\(index)", expected: "\(parameter.name), \(parameter.expectation)"))
            return .null
        }
        guard let accepted = parameter.accept(value) else {
            problems.append(FieldProblem(field: "/\(index)", expected: "\(parameter.name), \(parameter.expectation)"))
            return .null
        }
        return accepted
    }
}
