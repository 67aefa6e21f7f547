import JSON
import QuickConnect

extension Parameter {
    fileprivate static let keys: [FileKey<Parameter>] = [
        FileKey("name", \.name) { $0.string($1, $2) },
        FileKey("type", \.kind) { $0.kind($1, $2) },
        FileKey("optional", \.isOptional) { $0.bool($1, $2) },
        FileKey("default", \.defaultValue) { $0.json($1, $2) },
        FileKey("minimum", \.minimum) { $0.number($1, $2) },
        FileKey("maximum", \.maximum) { $0.number($1, $2) },
        FileKey("maxLength", \.maxLength) { $0.integer($1, $2, in: 0...Int(Int32.max)) },
        FileKey("oneOf", \.oneOf) { $0.choices($1, $2) },
        FileKey("repeat", \.repeats) { $0.bool($1, $2) },
        FileKey("members", \.members) { $0.memberList($1, $2) },
        FileKey("items", \.items) { $0.declaration($1, $2, itemKeys) },
        FileKey("help", \.help) { $0.string($1, $2) },
    ]
    /// Those of a member: its name stands before it.
    fileprivate static let memberKeys = keys.filter { !["name", "repeat"].contains($0.name) }
    /// Those of an item and of a result, which has no default.
    static let itemKeys = memberKeys.filter { $0.name != "default" }
    /// Those that a value and an event have, too.
    fileprivate static let bareKeys = itemKeys.filter { !["optional", "help"].contains($0.name) }
}

extension ValueDeclaration {
    static let keys: [FileKey<ValueDeclaration>] =
        Parameter.bareKeys.map { $0.within(\.parameter) } + [
            FileKey("default", \.initial) { $0.json($1, $2) },
            FileKey("clamp", \.clamps) { $0.bool($1, $2) },
            FileKey("keep", \.keeps) { $0.bool($1, $2) },
            FileKey("unit", \.unit) { $0.string($1, $2) },
            FileKey("gpio", \.binding) { $0.gpio($1, $2) },
            FileKey("pwm", \.binding) { $0.pwm($1, $2) },
            FileKey("led", \.binding) { $0.led($1, $2) },
            FileKey("sensor", \.binding) { $0.sensor($1, $2) },
            FileKey("every", \.interval) { $0.interval(ofSensor: $1, $2) },
            FileKey("step", \.step) { $0.step($1, $2) },
            FileKey("lease", \.hasLease) { $0.lease($1, $2) },
        ]
}

extension EventDeclaration {
    static let keys: [FileKey<EventDeclaration>] =
        Parameter.bareKeys.map { $0.within(\.parameter) } + [
            FileKey("last", \.keepsLast) { $0.bool($1, $2) },
            FileKey("reader", \.binding) { $0.reader($1, $2) },
            FileKey("keys", \.binding) { $0.keys($1, $2) },
        ]
}

extension YAMLFile {
    /// The declared parameters of a command: a list of mappings.
    mutating func parameters(_ node: YAMLNode) -> ParameterList? {
        guard let sequence = node.sequence else {
            mistake("'parameters' must be a list, [] for none", got: node)
            return nil
        }
        var parameters: [Parameter] = []
        for item in sequence {
            guard let parameter = parameter(item) else { continue }
            check(parameter, after: parameters, item)
            parameters.append(parameter)
        }
        for (parameter, item) in zip(parameters, sequence).dropLast() where parameter.repeats {
            mistake("'repeat' is for the last parameter only", at: item)
        }
        return ParameterList(parameters)
    }

    private mutating func parameter(_ node: YAMLNode) -> Parameter? {
        var parameter = Parameter("", .any)
        let names = read(node, of: "a parameter", Parameter.keys, into: &parameter)
        if !names.contains("name") || parameter.name.isEmpty { mistake("a parameter needs a 'name'", at: node) }
        if !names.contains("type") { mistake("a parameter needs a 'type'", at: node) }
        return names.isSuperset(of: ["name", "type"]) ? parameter : nil
    }

    fileprivate mutating func kind(_ node: YAMLNode, _ what: String) -> Parameter.Kind? {
        guard let text = string(node, what) else { return nil }
        if let kind = Parameter.Kind(rawValue: text) { return kind }
        let names = Parameter.Kind.allCases.map(\.rawValue)
        mistake(
            "unknown type '\(text)'\(KeyPlaces.question(text, among: names)); the types are \(names.joined(separator: ", "))",
            at: node
        )
        return nil
    }

    /// `{NAME: description, NAME: {type: …}, …}`.
    fileprivate mutating func memberList(_ node: YAMLNode, _ what: String) -> [Parameter.Member] {
        members(node, of: what).compactMap { _, name, value in
            guard value.mapping != nil else {
                return string(value, "'\(name)'").map { Parameter.Member(name, help: $0) }
            }
            return declaration(value, "the member '\(name)'", Parameter.memberKeys, name).map(Parameter.Member.init)
        }
    }

    /// `{type: …, …}`: what a member, an item or a result must be.
    mutating func declaration(
        _ node: YAMLNode,
        _ what: String,
        _ keys: [FileKey<Parameter>],
        _ name: String = ""
    ) -> Parameter? {
        guard mustBeMapping(node, what, suchAs: "{type: integer}") else { return nil }
        var declared = Parameter(name, .any)
        guard read(node, of: what, keys, into: &declared).contains("type") else {
            mistake("\(what) needs a 'type'", at: node)
            return nil
        }
        checkBounds(declared, node)
        checkDefault(declared, what, node)
        checkChoices(declared, node)
        return declared
    }

    /// Reports choices that no value of the type can be.
    private mutating func checkChoices(_ declared: Parameter, _ node: YAMLNode) {
        var unbound = declared
        unbound.oneOf = nil
        for choice in declared.oneOf ?? [] where !unbound.fits(choice) {
            mistake("'oneOf' has \(choice.gist), which is not \(unbound.expectation)", at: node)
        }
    }

    fileprivate mutating func choices(_ node: YAMLNode, _ what: String) -> [JSONValue]? {
        guard let values = json(node, what)?.arrayValue, !values.isEmpty else {
            mistake("'oneOf' must be a list of at least one value", got: node)
            return nil
        }
        return values
    }

    private mutating func check(_ parameter: Parameter, after before: [Parameter], _ node: YAMLNode) {
        if before.contains(where: { $0.name == parameter.name }) {
            mistake("the parameter '\(parameter.name)' is declared twice", at: node)
        }
        if !parameter.isOptional, before.last?.isOptional ?? false, parameter.kind != .object {
            mistake("'\(parameter.name)' must be optional too, for the parameter before it is", at: node)
        }
        checkBounds(parameter, node)
        checkDefault(parameter, "a parameter", node)
    }

    private mutating func checkDefault(_ parameter: Parameter, _ what: String, _ node: YAMLNode) {
        guard let value = parameter.defaultValue else { return }
        if !parameter.isOptional {
            mistake("'default' is for \(what) with 'optional: true'", at: node)
        } else if !parameter.fits(value) {
            let expectation = "the default of '\(parameter.name)' must be \(parameter.expectation)"
            mistake("\(expectation); got \(value.gist)\(note(value, parameter))", at: node)
        }
    }

    private func note(_ value: JSONValue, _ parameter: Parameter) -> String {
        parameter.kind == .boolean ? YAMLScalar.note(ofNoBoolean: value) : ""
    }

    /// Reports bounds that contradict each other or the type.
    private mutating func checkBounds(_ parameter: Parameter, _ node: YAMLNode) {
        if let minimum = parameter.minimum, let maximum = parameter.maximum, minimum > maximum {
            mistake("'minimum' is greater than 'maximum'", at: node)
        }
        if parameter.minimum ?? parameter.maximum != nil, ![.integer, .number, .any].contains(parameter.kind) {
            mistake("'minimum' and 'maximum' are for numbers", at: node)
        }
        if !parameter.members.isEmpty, ![.object, .any].contains(parameter.kind) {
            mistake("'members' is for objects", at: node)
        }
        if parameter.items != nil, ![.array, .any].contains(parameter.kind) {
            mistake("'items' is for arrays", at: node)
        }
        if parameter.maxLength != nil, ![.string, .any].contains(parameter.kind) {
            mistake("'maxLength' is for strings", at: node)
        }
    }

    /// Reads the declaration of a value: its type and bounds, its default, and whether it is kept.
    mutating func value(_ node: YAMLNode) -> ValueDeclaration? {
        guard mustBeMapping(node, "a value", suchAs: "{type: integer}") else { return nil }
        var value = ValueDeclaration(Parameter("value", .any))
        let names = read(node, of: "a value", ValueDeclaration.keys, into: &value, section: "value")
        guard names.contains("type") else {
            mistake("a value needs a 'type'", at: node)
            return nil
        }
        checkBinding(&value, names, node)
        check(&value, hasDefault: names.contains("default"), node)
        return value
    }

    /// Reads the declaration of an event: the type and bounds of its data, and whether the last one is kept.
    mutating func event(_ node: YAMLNode) -> EventDeclaration? {
        guard mustBeMapping(node, "an event", suchAs: "{type: object}") else { return nil }
        var event = EventDeclaration(Parameter("data", .any))
        let names = read(node, of: "an event", EventDeclaration.keys, into: &event, section: "event")
        if names.contains("reader") || names.contains("keys") {
            complete(&event, names, node)
            return event
        }
        guard names.contains("type") else {
            mistake("an event needs a 'type', or a 'reader' or 'keys' that it comes from", at: node)
            return nil
        }
        checkBounds(event.parameter, node)
        checkChoices(event.parameter, node)
        return event
    }

    private mutating func check(_ value: inout ValueDeclaration, hasDefault: Bool, _ node: YAMLNode) {
        let parameter = value.parameter
        checkBounds(parameter, node)
        if value.clamps, parameter.minimum == nil, parameter.maximum == nil {
            mistake("'clamp' needs a 'minimum' or a 'maximum'", at: node)
        }
        guard hasDefault else { return }
        if let fitting = value.fitting(value.initial) {
            value.initial = fitting
        } else {
            let expectation = "the default of a value must be \(parameter.expectation)"
            mistake("\(expectation); got \(value.initial.gist)\(note(value.initial, parameter))", at: node)
        }
    }
}
