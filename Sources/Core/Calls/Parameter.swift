public import JSON

/// One declared parameter of a command.
public struct Parameter: Sendable, Hashable {
    /// The types that mappings can name.
    public enum Kind: String, Sendable, CaseIterable {
        case string, integer, number, boolean, object, array, any
    }

    /// Its name, as errors and `explain` show it.
    public var name: String
    /// Its type.
    public var kind: Kind
    /// Whether it may be left out.
    public var isOptional = false
    /// The value used for an optional parameter that is left out.
    public var defaultValue: JSONValue?
    /// The smallest number that fits; nil: any.
    public var minimum: Double?
    /// The largest number that fits; nil: any.
    public var maximum: Double?
    /// The longest string, in characters.
    public var maxLength: Int?
    /// The values that it may have; nil: any.
    public var oneOf: [JSONValue]?
    /// Whether any number of further values may follow. Only the last parameter may repeat.
    public var repeats = false
    /// A short description for people.
    public var help: String?
    /// The members of an object. Those that are only described are not checked.
    public var members: [Member] = []
    /// What each item of an array must be; nil: anything.
    public var items: Parameter? {
        get { item.first }
        set { item = newValue.map { [$0] } ?? [] }
    }
    /// The same in a list, because a value cannot hold one of its own kind.
    private var item: [Parameter] = []
    /// Whether the receiver clamps numbers to its own bounds; then an integer may exceed the 64-bit range.
    var isClamped = false

    /// One member of an object.
    public struct Member: Sendable, Hashable {
        /// Its name in the object.
        public var name: String
        /// What it is, with its unit and bounds; empty if nobody says.
        public var help: String
        /// What its value must be; nil: the member is only described.
        public var declared: Parameter?

        /// A member that is described and not checked.
        public init(_ name: String, help: String) {
            self.name = name
            self.help = help
        }

        /// A member that is checked. It must be there unless it is optional.
        public init(_ declared: Parameter) {
            name = declared.name
            help = declared.help ?? ""
            self.declared = declared
        }
    }

    /// Whether anything inside of its values is checked.
    var checksInside: Bool { !item.isEmpty || checksMembers }

    /// Whether a member of its objects is checked.
    var checksMembers: Bool { members.contains { $0.declared != nil } }

    /// Whether its objects have no other members: each is declared with a type.
    public var isClosed: Bool { !members.isEmpty && members.allSatisfy { $0.declared != nil } }

    /// A required parameter without bounds.
    public init(_ name: String, _ kind: Kind) {
        self.name = name
        self.kind = kind
    }

    /// What a value must be, in words: `an integer of at least -1`.
    public var expectation: String {
        if let oneOf { return "one of \(NameList.text(oneOf.map(\.text), bytes: 320))" }
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
        case (let low?, let high?): return "\(noun) from \(JSONValue.shortest(low)) to \(JSONValue.shortest(high))"
        case (let low?, nil): return "\(noun) of at least \(JSONValue.shortest(low))"
        case (nil, let high?): return "\(noun) of at most \(JSONValue.shortest(high))"
        case (nil, nil): return noun
        }
    }

    /// The error for a value that does not fit, with the place of each part that does not.
    /// - Parameter field: where the value stands, as a JSON pointer.
    package func refusal(of value: JSONValue, at field: String) -> CommandError {
        var problems = FieldProblems()
        if checksInside, acceptOutside(value) != nil {
            var text = value.text
            text.withUTF8 { MemberCheck.check($0, self, at: field, &problems) }
        }
        if problems.isEmpty { problems.add(field, expected: "\(name), \(expectation)", got: value.gist) }
        return problems.error
    }

    /// Whether a value fits the parameter.
    public func fits(_ value: JSONValue) -> Bool { accept(value) != nil }

    /// Whether a checked JSON text fits the parameter, apart from what is inside of it (``MemberCheck``). If its kind
    /// decides, the value is not built.
    func fits(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        switch (kind, JSONKind(firstByte: bytes.first)) {
        case (.any, _), (.boolean, .boolean), (.object, .object), (.array, .array): break
        case (.string, .string):
            // A character has at least one byte. Strings of more than a hundred bytes per allowed character are not
            // examined.
            if let maxLength {
                if bytes.count - 2 > 100 * max(maxLength, 40) { return false }
                if bytes.count - 2 > maxLength { return acceptOutside(JSONValue(checked: bytes)) != nil }
            }
        case (.integer, .number):
            if bytes.count > Self.maxNumber { return false }
            if !isPlainInteger(bytes) { return acceptOutside(JSONValue(checked: bytes)) != nil }
        case (.number, .number): if bytes.count > Self.maxNumber { return false }
        default: return false
        }
        guard minimum != nil || maximum != nil || oneOf != nil else { return true }
        return acceptOutside(JSONValue(checked: bytes)) != nil
    }

    /// A number with more digits is not meaningful, and slow to read.
    private static let maxNumber = 1024

    private func isPlainInteger(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        bytes.count <= 18 && bytes.allSatisfy { $0 &- UInt8(ascii: "0") <= 9 || $0 == UInt8(ascii: "-") }
    }

    /// The value as the command objects see it; nil if it does not fit.
    func accept(_ value: JSONValue) -> JSONValue? {
        guard let value = acceptOutside(value) else { return nil }
        return !checksInside || MemberCheck.fits(value, self) ? value : .none
    }

    /// The same, whatever is inside of it.
    private func acceptOutside(_ value: JSONValue) -> JSONValue? {
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
            case .integer: value.integerValue != nil || isClamped && value.isWhole
            case .number: value.numberValue != nil
            case .boolean: value.boolValue != nil
            case .object: value.objectValue != nil
            case .array: value.arrayValue != nil
            case .any: true
            }
        guard fits else { return .none }
        // JavaScript writes a whole number as 3, other languages as 3.0: both are the integer 3.
        guard kind == .integer, let integer = value.integerValue else { return value }
        return .integer(integer)
    }
}

extension JSONValue {
    /// Whether it is a number without a fraction, however large.
    var isWhole: Bool { numberValue.map { $0.rounded() == $0 } ?? false }

    /// Whether it is neither an array nor an object.
    package var isScalar: Bool {
        switch self {
        case .array, .object: false
        default: true
        }
    }
}
