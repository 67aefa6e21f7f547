public import JSON

/// A value of the device, as a mapping declares it in place of a stack: state that outlives whoever set it.
public struct ValueDeclaration: Sendable, Hashable {
    /// What it must be: its type and bounds.
    public var parameter: Parameter
    /// What it is until somebody sets it.
    public var initial: JSONValue
    /// Whether a number beyond its bounds becomes the nearest one within them, in place of being `invalid`.
    public var clamps: Bool
    /// Whether it is carried over restarts.
    public var keeps: Bool

    /// A value of the kind and bounds that a parameter has.
    public init(_ parameter: Parameter, initial: JSONValue = .null, clamps: Bool = false, keeps: Bool = false) {
        self.parameter = parameter
        self.initial = initial
        self.clamps = clamps
        self.keeps = keeps
    }

    /// What the value becomes when it is set to this; nil where it does not fit.
    public func accept(_ value: JSONValue) -> JSONValue? { parameter.accept(clamped(value)) }

    /// A value as it is kept, without clamping; nil where it does not fit.
    public func fitting(_ value: JSONValue) -> JSONValue? { parameter.accept(value) }

    private func clamped(_ value: JSONValue) -> JSONValue {
        guard clamps, let number = value.numberValue else { return value }
        // A fraction is none of the integers, wherever they end.
        if parameter.kind == .integer, !value.isWhole { return value }
        if let minimum = parameter.minimum, number < minimum { return bound(minimum) }
        if let maximum = parameter.maximum, number > maximum { return bound(maximum) }
        return value
    }

    private func bound(_ number: Double) -> JSONValue {
        Int64(exactly: number).map(JSONValue.integer) ?? .number(number)
    }

    /// The one parameter of its command: left out, the call asks for the value.
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
    /// What the value's accessors end with, its name with a capital; nil where they would be no identifiers.
    public static func suffix(of name: String) -> String? {
        guard name.unicodeScalars.allSatisfy({ $0.properties.isIDContinue || $0 == "$" }), let first = name.first else {
            return nil
        }
        return first.uppercased() + name.dropFirst()
    }

    /// Names that JavaScript or scripts have themselves: `getValue`, `setTimeout`.
    private static let taken: Set<ByteName> = ["Value", "Timeout", "Interval"]

    /// The accessors of each value; a value whose accessors would be no identifiers, or are taken, has none.
    public static func suffixes(of names: some Sequence<String>) -> [(name: String, suffix: String?)] {
        var used = taken
        return names.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }.map { name in
            guard let suffix = suffix(of: name), used.insert(ByteName(suffix)).inserted else { return (name, nil) }
            return (name, suffix)
        }
    }
}
