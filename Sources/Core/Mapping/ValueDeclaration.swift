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

    /// Whether a client may add to it: it is a number, and not read from hardware.
    public var isCounted: Bool { (parameter.kind == .integer || parameter.kind == .number) && !isInput }

    /// What a value becomes when a number is added to it. Nobody has set it yet: it begins at 0.
    /// - Parameter field: where the number stands among the parameters, for the error.
    package func adding(_ amount: JSONValue, to value: JSONValue, field: String) throws(CommandError) -> JSONValue {
        guard isCounted else {
            throw .invalid(field, expected: "nothing, because the value is no number", got: amount.gist)
        }
        let sum = JSONValue.sum(value == .null ? .integer(0) : value, amount)
        if let new = sum.flatMap(accept) { return new }
        let bound = sum == nil && parameter.kind == .integer ? " of 64 bits" : ""
        let expectation = "an amount by which \(value.text.shortened) becomes \(parameter.expectation)\(bound)"
        throw .invalid(field, expected: expectation, got: amount.gist)
    }

    /// What a call adds to a value, and where that stands among the parameters; nil: it sets or reads it.
    package static func added(by call: borrowing Call) throws(CommandError) -> (amount: JSONValue, field: String)? {
        guard let amount = call[1]?.objectValue?["add"] else { return nil }
        let field = "\(call.field(1))/add"
        // What JSON makes of a number that is none. Else the call would read.
        guard amount != .null else { throw .invalid(field, expected: "a number", got: "null") }
        guard call[0] == nil else {
            throw .invalid("/0", expected: "null, because the option add is given", got: call.gist(0))
        }
        return (amount, field)
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

    /// Whether it can be set to a pattern of times: an output that is on or off.
    public var takesPatterns: Bool { parameter.kind == .boolean && binding?.isOutput ?? false }

    /// The parameters of its command. If the first is left out, the call returns the value.
    var commandParameters: [Parameter] {
        var parameter = parameter
        parameter.name = "value"
        parameter.isOptional = true
        if clamps { (parameter.minimum, parameter.maximum, parameter.isClamped) = (nil, nil, true) }
        guard let binding else { return isCounted ? [parameter, options] : [parameter] }
        // What nobody can set is `unsupported`, whatever was sent.
        if isInput || takesPatterns { parameter = Parameter("value", .any) }
        parameter.isOptional = true
        if isInput { parameter.help = "none: it is read from \(binding.key)" }
        if takesPatterns { parameter.help = "true or false; or a pattern, [200, 100, 200] in ms: on, off, on" }
        return binding.isOutput ? [parameter, options] : [parameter]
    }

    private var options: Parameter {
        var options = Parameter("options", .object)
        options.isOptional = true
        if isCounted {
            var add = Parameter("add", parameter.kind)
            (add.isOptional, add.isClamped) = (true, clamps)
            add.help = "what is added to it, in place of a value"
            options.members.append(Parameter.Member(add))
        }
        if binding != nil {
            let help = "how long, such as 500ms or 5s, at most 1h; then it returns to its default"
            options.members.append(Parameter.Member("for", help: help))
        }
        return options
    }
}

extension JSONValue {
    /// Two numbers together, with no more places behind the point than they have: 0.1 and 0.2 are 0.3. Nil where one is no
    /// number, and where the sum is none that JSON has or that 64 bits hold.
    fileprivate static func sum(_ one: JSONValue, _ other: JSONValue) -> JSONValue? {
        if let one = one.integerValue, let other = other.integerValue {
            let (sum, isOver) = one.addingReportingOverflow(other)
            return isOver ? nil : .integer(sum)
        }
        guard let first = one.numberValue, let second = other.numberValue else { return nil }
        let sum = first + second
        guard sum.isFinite else { return nil }
        guard let places = places(one.text, other.text) else { return .shortest(sum) }
        let scale = (0..<places).reduce(1.0) { scale, _ in scale * 10 }
        let rounded = (sum * scale).rounded() / scale
        return .shortest(rounded.isFinite ? rounded : sum)
    }

    /// The most digits behind the point; nil where there are too many to count with.
    private static func places(_ texts: String...) -> Int? {
        let all = texts.map { $0.contains("e") ? 16 : $0.split(separator: ".").dropFirst().first?.count ?? 0 }
        return all.max().flatMap { $0 < 16 ? $0 : nil }
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
