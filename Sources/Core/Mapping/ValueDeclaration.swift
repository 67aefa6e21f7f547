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
    /// The hardware that it is; nil: it is only a value.
    public var binding: Binding?
    /// What a number counts, such as `°C`.
    public var unit: String?
    /// Whether an output returns to its default when the connection ends that has set it last.
    public var hasLease = false
    /// How often a sensor is read while somebody subscribes.
    public var interval = Duration.seconds(10)
    /// By how much a sensor's number must change to be told.
    public var step = 0.0

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

    /// What its command returns: null only until somebody sets a value that has no default.
    var result: Parameter {
        var result = parameter
        result.isOptional = initial == .null || isInput
        return result
    }

    private func clamped(_ value: JSONValue) -> JSONValue {
        guard clamps, let number = value.numberValue else { return value }
        // A fraction is never an integer, so clamping cannot make it fit.
        if parameter.kind == .integer, !value.isWhole { return value }
        if let minimum = parameter.minimum, number < minimum { return .shortest(minimum) }
        if let maximum = parameter.maximum, number > maximum { return .shortest(maximum) }
        return value
    }

    /// Whether it can only be read.
    public var isInput: Bool { binding.map { !$0.isOutput } ?? false }

    /// How often it is read while somebody subscribes; nil: it is no sensor.
    package var sensorInterval: Duration? { if case .sensor? = binding { interval } else { nil } }

    /// Whether it can be set to a pattern of times.
    public var takesPatterns: Bool { if case .gpio(let gpio) = binding { gpio.isOutput } else { false } }

    /// The parameters of its command. If the first is left out, the call returns the value.
    var commandParameters: [Parameter] {
        var parameter = parameter
        parameter.name = "value"
        parameter.isOptional = true
        if clamps { (parameter.minimum, parameter.maximum, parameter.isClamped) = (nil, nil, true) }
        guard let binding else { return [parameter] }
        // What nobody can set is `unsupported`, whatever was sent.
        if isInput || takesPatterns { parameter = Parameter("value", .any) }
        parameter.isOptional = true
        if isInput { parameter.help = "none: it is read from \(binding.key)" }
        if takesPatterns { parameter.help = "true or false; or a pattern, [200, 100, 200] in ms: on, off, on" }
        guard binding.isOutput else { return [parameter] }
        var options = Parameter("options", .object)
        options.isOptional = true
        options.members = [
            Parameter.Member("for", help: "how long, such as 500ms or 5s, at most 1h; then it returns to its default")
        ]
        return [parameter, options]
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
