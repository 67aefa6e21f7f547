/// A JSON value (RFC 8259). Numbers without fraction or exponent that fit 64 bits stay integers.
public enum JSONValue: Sendable {
    case null
    case bool(Bool)
    case integer(Int64)
    case number(Double)
    case string(String)
    case array([JSONValue])
    case object(JSONObject)
}

extension JSONValue: Hashable {
    /// Whether both are the same. Strings are compared by their bytes: é and e with a combining accent are two, and a rule for
    /// the one does not hold for the other.
    public static func == (one: JSONValue, other: JSONValue) -> Bool {
        switch (one, other) {
        case (.null, .null): true
        case (.bool(let one), .bool(let other)): one == other
        case (.integer(let one), .integer(let other)): one == other
        case (.number(let one), .number(let other)): one == other
        case (.string(let one), .string(let other)): ByteName(one) == ByteName(other)
        case (.array(let one), .array(let other)): one == other
        case (.object(let one), .object(let other)): one == other
        default: false
        }
    }

    /// Hashes the value, consistent with `==`.
    public func hash(into hasher: inout Hasher) {
        switch self {
        case .null: hasher.combine(0)
        case .bool(let value): hasher.combine(value)
        case .integer(let value): hasher.combine(value)
        case .number(let value): hasher.combine(value)
        case .string(let value): hasher.combine(ByteName(value))
        case .array(let value): hasher.combine(value)
        case .object(let value): hasher.combine(value)
        }
    }
}

extension JSONValue {
    /// The text of a string; nil for others.
    public var stringValue: String? {
        if case .string(let value) = self { value } else { nil }
    }

    /// A truth value; nil for others.
    public var boolValue: Bool? {
        if case .bool(let value) = self { value } else { nil }
    }

    /// The value as a whole number: an integer, or a number without a fraction such as `3.0`.
    public var integerValue: Int64? {
        switch self {
        case .integer(let value): value
        case .number(let value): Int64(exactly: value)
        default: nil
        }
    }

    /// A number, whole or not; nil for others.
    public var numberValue: Double? {
        switch self {
        case .integer(let value): Double(value)
        case .number(let value): value
        default: nil
        }
    }

    /// Whether JSON treats both as the same value. JSON has one kind of number: `1` and `1.0` are the same.
    package func isSame(as other: JSONValue) -> Bool {
        switch (self, other) {
        case (.integer(let integer), .number(let number)), (.number(let number), .integer(let integer)):
            Int64(exactly: number) == integer
        default: self == other
        }
    }

    /// The items of an array; nil for others.
    public var arrayValue: [JSONValue]? {
        if case .array(let value) = self { value } else { nil }
    }

    /// The members of an object; nil for others.
    public var objectValue: JSONObject? {
        if case .object(let value) = self { value } else { nil }
    }
}

extension JSONValue: ExpressibleByNilLiteral, ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral,
    ExpressibleByFloatLiteral, ExpressibleByStringLiteral, ExpressibleByStringInterpolation,
    ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
    /// Null.
    public init(nilLiteral: ()) { self = .null }
    /// A truth value.
    public init(booleanLiteral value: Bool) { self = .bool(value) }
    /// A whole number.
    public init(integerLiteral value: Int64) { self = .integer(value) }
    /// A number.
    public init(floatLiteral value: Double) { self = .number(value) }
    /// A string.
    public init(stringLiteral value: String) { self = .string(value) }
    /// An array.
    public init(arrayLiteral elements: JSONValue...) { self = .array(elements) }
    /// An object.
    public init(dictionaryLiteral elements: (String, JSONValue)...) {
        self = .object(JSONObject(elements))
    }
}

extension JSONValue {
    /// An object with these members, without those whose value is nil.
    package init(present pairs: KeyValuePairs<String, JSONValue?>) { self = .object(JSONObject(present: pairs)) }

    /// A number, without a fraction where it has none.
    public static func shortest(_ number: Double) -> JSONValue {
        Int64(exactly: number).map { .integer($0) } ?? .number(number)
    }
}
