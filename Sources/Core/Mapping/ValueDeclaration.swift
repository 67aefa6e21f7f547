public import JSON

/// A value of the device, declared by a mapping instead of a stack: state that outlives the client that set it.
public struct ValueDeclaration: Sendable, Hashable {
    /// Its type and bounds.
    public var parameter: Parameter
    /// The value until somebody sets it.
    public var initial: JSONValue
    /// Whether a number beyond the bounds is clamped to them instead of being `invalid`.
    public var clamps: Bool
    /// Whether it is kept over restarts.
    public var keeps: Bool

    /// A value with a parameter's type and bounds.
    public init(_ parameter: Parameter, initial: JSONValue = .null, clamps: Bool = false, keeps: Bool = false) {
        self.parameter = parameter
        self.initial = initial
        self.clamps = clamps
        self.keeps = keeps
    }

    /// The result of setting the value to this; nil if it does not fit.
    public func accept(_ value: JSONValue) -> JSONValue? { parameter.accept(clamped(value)) }

    /// A stored value, without clamping; nil if it does not fit.
    public func fitting(_ value: JSONValue) -> JSONValue? { parameter.accept(value) }

    private func clamped(_ value: JSONValue) -> JSONValue {
        guard clamps, let number = value.numberValue else { return value }
        // A fraction is never an integer, so clamping cannot make it fit.
        if parameter.kind == .integer, !value.isWhole { return value }
        if let minimum = parameter.minimum, number < minimum { return bound(minimum) }
        if let maximum = parameter.maximum, number > maximum { return bound(maximum) }
        return value
    }

    private func bound(_ number: Double) -> JSONValue {
        Int64(exactly: number).map(JSONValue.integer) ?? .number(number)
    }

    /// The one parameter of its command. If it is left out, the call returns the value.
    var commandParameter: Parameter {
        var parameter = parameter
        parameter.name = "value"
        parameter.isOptional = true
        if clamps { (parameter.minimum, parameter.maximum, parameter.isClamped) = (nil, nil, true) }
        return parameter
    }
}

/// The functions by which macros reach a value: `getInnerProgress()` and `setInnerProgress(x)` of `innerProgress`.
public enum ValueAccessors {
    /// The end of the accessors' names, the value's name with a capital; nil if they would not be identifiers.
    public static func suffix(of name: String) -> String? {
        guard name.unicodeScalars.allSatisfy({ $0.properties.isIDContinue || $0 == "$" }), let first = name.first else {
            return nil
        }
        return first.uppercased() + name.dropFirst()
    }

    /// Names that JavaScript or scripts already use: `getValue`, `setTimeout`.
    private static let taken: Set<ByteName> = ["Value", "Timeout", "Interval"]

    /// The accessors of each value; nil if they would not be identifiers or their names are taken.
    public static func suffixes(of names: some Sequence<String>) -> [(name: String, suffix: String?)] {
        var used = taken
        return names.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }.map { name in
            guard let suffix = suffix(of: name), used.insert(ByteName(suffix)).inserted else { return (name, nil) }
            return (name, suffix)
        }
    }
}
