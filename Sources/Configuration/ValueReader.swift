import JSON
import QuickConnect

/// Reads the declaration of a value: its type and bounds, its default, and whether it is kept.
struct ValueReader {
    private var reader: ParameterReader

    static let keys = ["type", "minimum", "maximum", "maxLength", "oneOf", "default", "clamp", "keep"]

    init(_ file: YAMLFile) { reader = ParameterReader(file) }

    var file: YAMLFile { reader.file }

    mutating func read(_ node: YAMLNode) -> ValueDeclaration? {
        var value = ValueDeclaration(Parameter("value", .any))
        let members = reader.file.members(node, of: "a value", known: Self.keys)
        for (_, name, node) in members { read(name, node, into: &value) }
        guard members.contains(where: { $0.name == "type" }) else {
            reader.file.mistake("a value needs a 'type'", at: node)
            return nil
        }
        check(&value, hasDefault: members.contains { $0.name == "default" }, node)
        return value
    }

    private mutating func read(_ name: String, _ node: YAMLNode, into value: inout ValueDeclaration) {
        switch name {
        case "type": value.parameter.kind = reader.kind(node) ?? .any
        case "minimum": value.parameter.minimum = reader.file.number(node, "'minimum'")
        case "maximum": value.parameter.maximum = reader.file.number(node, "'maximum'")
        case "maxLength":
            value.parameter.maxLength = reader.file.integer(node, "'maxLength'", in: 0...Int(Int32.max))
        case "oneOf": value.parameter.oneOf = reader.choices(node)
        case "default": value.initial = reader.file.json(node, "'default'") ?? .null
        case "clamp": value.clamps = reader.file.bool(node, "'clamp'") ?? false
        default: value.keeps = reader.file.bool(node, "'keep'") ?? false
        }
    }

    private mutating func check(_ value: inout ValueDeclaration, hasDefault: Bool, _ node: YAMLNode) {
        let parameter = value.parameter
        reader.checkBounds(parameter, node)
        if value.clamps, parameter.minimum == nil, parameter.maximum == nil {
            reader.file.mistake("'clamp' needs a 'minimum' or a 'maximum'", at: node)
        }
        guard hasDefault else { return }
        if let fitting = value.fitting(value.initial) {
            value.initial = fitting
        } else {
            let expectation = "the default of a value must be \(parameter.expectation)"
            reader.file.mistake("\(expectation); got \(value.initial.gist)", at: node)
        }
    }
}
