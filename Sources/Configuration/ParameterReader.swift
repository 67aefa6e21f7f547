import JSON
import QuickConnect

/// Reads the declared parameters of a command: a list of mappings.
struct ParameterReader {
    var file: YAMLFile

    static let keys = [
        "name", "type", "optional", "default", "minimum", "maximum", "maxLength", "oneOf", "repeat", "members", "help",
    ]

    init(_ file: YAMLFile) { self.file = file }

    mutating func read(_ node: YAMLNode) -> ParameterList? {
        guard let sequence = node.sequence else {
            file.mistake("'parameters' must be a list, [] for none", got: node)
            return nil
        }
        var parameters: [Parameter] = []
        for item in sequence {
            guard let parameter = parameter(item) else { continue }
            check(parameter, after: parameters, item)
            parameters.append(parameter)
        }
        for (parameter, item) in zip(parameters, sequence).dropLast() where parameter.repeats {
            file.mistake("'repeat' is for the last parameter only", at: item)
        }
        return ParameterList(parameters)
    }

    private mutating func parameter(_ node: YAMLNode) -> Parameter? {
        var parameter = Parameter("", .any)
        let members = file.members(node, of: "a parameter", known: Self.keys)
        for (_, name, value) in members {
            switch name {
            case "name": parameter.name = file.string(value, "'name'") ?? ""
            case "type": parameter.kind = kind(value) ?? .any
            case "optional": parameter.isOptional = file.bool(value, "'optional'") ?? false
            case "default": parameter.defaultValue = file.json(value, "'default'")
            case "minimum": parameter.minimum = file.number(value, "'minimum'")
            case "maximum": parameter.maximum = file.number(value, "'maximum'")
            case "maxLength": parameter.maxLength = file.integer(value, "'maxLength'", in: 0...Int(Int32.max))
            case "oneOf": parameter.oneOf = choices(value)
            case "repeat": parameter.repeats = file.bool(value, "'repeat'") ?? false
            case "members": parameter.members = described(value)
            default: parameter.help = file.string(value, "'help'")
            }
        }
        let names = Set(members.map(\.name))
        if !names.contains("name") || parameter.name.isEmpty { file.mistake("a parameter needs a 'name'", at: node) }
        if !names.contains("type") { file.mistake("a parameter needs a 'type'", at: node) }
        return names.isSuperset(of: ["name", "type"]) ? parameter : nil
    }

    mutating func kind(_ node: YAMLNode) -> Parameter.Kind? {
        guard let text = file.string(node, "'type'") else { return nil }
        if let kind = Parameter.Kind(rawValue: text) { return kind }
        let names = Parameter.Kind.allCases.map(\.rawValue)
        file.mistake(
            "unknown type '\(text)'\(NearestNames.question(text, among: names)); the types are \(names.joined(separator: ", "))",
            at: node
        )
        return nil
    }

    /// `{NAME: description, …}`.
    private mutating func described(_ node: YAMLNode) -> [Parameter.Member] {
        file.members(node, of: "'members'").compactMap { _, name, value in
            file.string(value, "'\(name)'").map { Parameter.Member(name, help: $0) }
        }
    }

    mutating func choices(_ node: YAMLNode) -> [JSONValue]? {
        guard let values = file.json(node, "'oneOf'")?.arrayValue, !values.isEmpty else {
            file.mistake("'oneOf' must be a list of values", got: node)
            return nil
        }
        return values
    }

    private mutating func check(_ parameter: Parameter, after before: [Parameter], _ node: YAMLNode) {
        if before.contains(where: { $0.name == parameter.name }) {
            file.mistake("the parameter '\(parameter.name)' is declared twice", at: node)
        }
        if !parameter.isOptional, before.last?.isOptional ?? false, parameter.kind != .object {
            file.mistake("'\(parameter.name)' must be optional too, for the parameter before it is", at: node)
        }
        checkBounds(parameter, node)
        guard let value = parameter.defaultValue else { return }
        if !parameter.isOptional {
            file.mistake("'default' is for a parameter with 'optional: true'", at: node)
        } else if !parameter.fits(value) {
            let expectation = "the default of '\(parameter.name)' must be \(parameter.expectation)"
            file.mistake("\(expectation); got \(value.gist)", at: node)
        }
    }

    /// Reports bounds that contradict each other or the type.
    mutating func checkBounds(_ parameter: Parameter, _ node: YAMLNode) {
        if let minimum = parameter.minimum, let maximum = parameter.maximum, minimum > maximum {
            file.mistake("'minimum' is greater than 'maximum'", at: node)
        }
        if parameter.minimum ?? parameter.maximum != nil, ![.integer, .number, .any].contains(parameter.kind) {
            file.mistake("'minimum' and 'maximum' are for numbers", at: node)
        }
        if !parameter.members.isEmpty, ![.object, .any].contains(parameter.kind) {
            file.mistake("'members' is for objects", at: node)
        }
        if parameter.maxLength != nil, ![.string, .any].contains(parameter.kind) {
            file.mistake("'maxLength' is for strings", at: node)
        }
    }
}
