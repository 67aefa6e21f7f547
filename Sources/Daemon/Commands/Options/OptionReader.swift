import JSON
import QuickConnect

/// Reads an object of options, the last parameter of a command, and collects everything that does not fit.
struct OptionReader {
    private var options: [String: JSONValue] = [:]
    private let field: String
    private var problems = FieldProblems()

    /// Members beyond this number, and values longer than the limit below, are not examined.
    private static let maxMembers = 64
    private static let maxValue = 4096

    /// - Parameters:
    ///   - index: which argument of the call is the object.
    ///   - known: the names of the options. Any other name is a problem.
    init(_ call: borrowing Call, _ index: Int, known: [String]) throws(CommandError) {
        let field = call.field(index)
        self.field = field
        guard let options = call.object(index) else { return }
        var count = 0
        options.forEachMember { name, text in
            count += 1
            if !known.contains(name) {
                problems.add(
                    "\(field)/\(FieldProblem.pointer(name))",
                    expected: "one of \(known.joined(separator: ", "))"
                )
            } else if text.count > Self.maxValue {
                problems.add(
                    "\(field)/\(name)",
                    expected: "\(name), at most \(Self.maxValue) bytes long",
                    got: text.gist
                )
            } else {
                self.options[name] = text.value
            }
            return count <= Self.maxMembers
        }
        guard count <= Self.maxMembers else {
            let expected = "options, at most \(Self.maxMembers), of \(known.joined(separator: ", "))"
            throw .invalid(field, expected: expected, got: "more than \(Self.maxMembers)")
        }
    }

    func isNull(_ name: String) -> Bool { options[name] == JSONValue.null }

    /// A number within bounds.
    mutating func number(_ name: String, in range: ClosedRange<Double>, _ unit: String) -> Double? {
        let (low, high) = (JSONValue.shortest(range.lowerBound), JSONValue.shortest(range.upperBound))
        return value(name, "a number from \(low) to \(high), \(unit)") {
            $0.numberValue.flatMap { range.contains($0) ? $0 : nil }
        }
    }

    /// A whole number within bounds.
    mutating func integer(_ name: String, in range: ClosedRange<Int64>, _ unit: String) -> Int? {
        value(name, "an integer from \(range.lowerBound) to \(range.upperBound), \(unit)") {
            $0.integerValue.flatMap { range.contains($0) ? Int($0) : nil }
        }
    }

    mutating func boolean(_ name: String) -> Bool? { value(name, "true or false", \.boolValue) }

    mutating func text(_ name: String, atMost bytes: Int) -> String? {
        value(name, "a string of at most \(bytes) bytes") {
            $0.stringValue.flatMap { $0.utf8.count <= bytes ? $0 : nil }
        }
    }

    /// A list of strings; empty if it is left out.
    mutating func texts(
        _ name: String,
        atMost most: Int,
        _ expectation: String,
        where fits: (String) -> Bool
    ) -> [String] {
        value(name, "a list of at most \(most) strings, \(expectation)") { value in
            let texts = value.arrayValue?.compactMap(\.stringValue) ?? []
            guard texts.count == value.arrayValue?.count, texts.count <= most else { return nil }
            return texts.allSatisfy(fits) ? texts : nil
        } ?? []
    }

    /// What an option has; nil if it is left out, null, or not as expected.
    mutating func value<Value>(
        _ name: String,
        _ expectation: @autoclosure () -> String,
        _ read: (JSONValue) -> Value?
    ) -> Value? {
        guard let option = options[name], option != .null else { return nil }
        let value = read(option)
        if value == nil {
            problems.add("\(field)/\(name)", expected: "\(name), \(expectation())", got: option.gist)
        }
        return value
    }

    /// Throws `invalid` if a value did not fit or a name is unknown.
    func finish() throws(CommandError) {
        guard problems.isEmpty else { throw problems.error }
    }
}
