import JSON
import QuickConnect

/// Reads an object of options, the last parameter of a command, and collects all that does not fit.
struct OptionReader {
    private let options: JSONObject
    private let field: String
    private var known: [String] = []
    private var problems: [FieldProblem] = []

    /// - Parameter field: the JSON pointer of the object, such as `/2`.
    init(_ options: JSONObject, field: String) {
        self.options = options
        self.field = field
    }

    /// A number within bounds.
    mutating func number(_ name: String, in range: ClosedRange<Double>, _ unit: String) -> Double? {
        known.append(name)
        guard let value = options[name], value != .null else { return nil }
        if let number = value.numberValue, range.contains(number) { return number }
        expect(name, "a number from \(Self.text(range.lowerBound)) to \(Self.text(range.upperBound)), \(unit)")
        return nil
    }

    /// A whole number within bounds.
    mutating func integer(_ name: String, in range: ClosedRange<Int64>, _ unit: String) -> Int? {
        known.append(name)
        guard let value = options[name], value != .null else { return nil }
        if let number = value.integerValue, range.contains(number) { return Int(number) }
        expect(name, "an integer from \(range.lowerBound) to \(range.upperBound), \(unit)")
        return nil
    }

    mutating func boolean(_ name: String) -> Bool? {
        known.append(name)
        guard let value = options[name], value != .null else { return nil }
        if value.boolValue == nil { expect(name, "true or false") }
        return value.boolValue
    }

    /// Throws `invalid` where anything did not fit, or has a name that was not asked for.
    mutating func finish() throws(CommandError) {
        for (name, _) in options where !known.contains(name) {
            let pointer = name.replacing("~", with: "~0").replacing("/", with: "~1")
            problems.append(
                FieldProblem(field: "\(field)/\(pointer)", expected: "one of \(known.joined(separator: ", "))")
            )
        }
        guard problems.isEmpty else { throw .invalid(problems) }
    }

    private mutating func expect(_ name: String, _ what: String) {
        problems.append(FieldProblem(field: "\(field)/\(name)", expected: "\(name), \(what)"))
    }

    private static func text(_ number: Double) -> String {
        Int64(exactly: number).map(String.init) ?? String(number)
    }
}
