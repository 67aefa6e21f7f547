import JSON
import QuickConnect

extension ParameterList {
    /// The declared parameters as `commands` and `explain` show them.
    var json: JSONValue { .array(parameters.map { .object($0.json) }) }
}

extension Parameter {
    fileprivate var json: JSONObject {
        var object: JSONObject = ["name": .string(name), "type": .string(kind.rawValue)]
        if isOptional { object["optional"] = true }
        object["default"] = defaultValue
        object["minimum"] = minimum.map(JSONValue.plainNumber)
        object["maximum"] = maximum.map(JSONValue.plainNumber)
        object["maxLength"] = maxLength.map { .integer(Int64($0)) }
        object["oneOf"] = oneOf.map(JSONValue.array)
        if repeats { object["repeat"] = true }
        if !members.isEmpty { object["members"] = .object(JSONObject(members.map { ($0.name, .string($0.help)) })) }
        object["help"] = help.map(JSONValue.string)
        return object
    }
}

extension ValueDeclaration {
    /// The declaration of a value: `{"type", "minimum", "maximum", "maxLength", "oneOf", "default", "clamp", "keep"}`.
    var json: JSONValue {
        var object = parameter.json
        object["name"] = nil
        object["default"] = initial
        object["clamp"] = .bool(clamps)
        object["keep"] = .bool(keeps)
        return .object(object)
    }
}

extension JSONValue {
    /// A number, written without a fraction if it has none.
    static func plainNumber(_ number: Double) -> JSONValue {
        Int64(exactly: number).map(JSONValue.integer) ?? .number(number)
    }
}
