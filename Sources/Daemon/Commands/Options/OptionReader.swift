import JSON
import QuickConnect

/// Reads an object of options, the last parameter of a command, and collects everything that does not fit.
struct OptionReader {
    private var options: [String: JSONValue] = [:]
    private let field: String
    private var problems = FieldProblems()

    /// Members beyond this number, and values longer than the limit below, are not examined.
    private static let mostMembers = 64
    private static let longestValue = 4096

    /// - Parameters:
    ///   - options: the object as received; nil if there is none.
    ///   - field: the JSON pointer of the object, such as `/2`.
    ///   - known: the names of the options. Any other name is a problem.
    init(_ options: JSONText?, field: String, known: [String]) throws(CommandError) {
        self.field = field
        guard let options else { return }
        var count = 0
        options.forEachMember { name, text in
            count += 1
            if !known.contains(name) {
                problems.add("\(field)/\(Self.pointer(name))", expected: "one of \(known.joined(separator: ", "))")
            } else if text.count > Self.longestValue {
                problems.add(
                    "\(field)/\(name)",
                    expected: "\(name), at most \(Self.longestValue) bytes long",
                    got: text.gist
                )
            } else {
                self.options[name] = text.value
            }
            return count <= Self.mostMembers
        }
        guard count <= Self.mostMembers else {
            let expected = "options, at most \(Self.mostMembers), of \(known.joined(separator: ", "))"
            throw .invalid(field, expected: expected, got: "more than \(Self.mostMembers)")
        }
    }

    /// A name in a JSON pointer (RFC 6901), shortened if a caller has made up a long one.
    private static func pointer(_ name: String) -> String {
        name.shortened.replacing("~", with: "~0").replacing("/", with: "~1")
    }

    func isNull(_ name: String) -> Bool { options[name] == JSONValue.null }

    /// A number within bounds.
    mutating func number(_ name: String, in range: ClosedRange<Double>, _ unit: String) -> Double? {
        guard let value = options[name], value != .null else { return nil }
        if let number = value.numberValue, range.contains(number) { return number }
        expect(name, "a number from \(Self.text(range.lowerBound)) to \(Self.text(range.upperBound)), \(unit)")
        return nil
    }

    /// A whole number within bounds.
    mutating func integer(_ name: String, in range: ClosedRange<Int64>, _ unit: String) -> Int? {
        guard let value = options[name], value != .null else { return nil }
        if let number = value.integerValue, range.contains(number) { return Int(number) }
        expect(name, "an integer from \(range.lowerBound) to \(range.upperBound), \(unit)")
        return nil
    }

    mutating func boolean(_ name: String) -> Bool? {
        guard let value = options[name], value != .null else { return nil }
        if value.boolValue == nil { expect(name, "true or false") }
        return value.boolValue
    }

    mutating func text(_ name: String, atMost bytes: Int) -> String? {
        guard let value = options[name], value != .null else { return nil }
        if let text = value.stringValue, text.utf8.count <= bytes { return text }
        expect(name, "a string of at most \(bytes) bytes")
        return nil
    }

    /// A list of strings; empty if it is left out.
    mutating func texts(
        _ name: String,
        atMost most: Int,
        _ expectation: String,
        where fits: (String) -> Bool
    ) -> [String] {
        guard let value = options[name], value != .null else { return [] }
        let texts = value.arrayValue?.compactMap(\.stringValue) ?? []
        if texts.count == value.arrayValue?.count, texts.count <= most, texts.allSatisfy(fits) { return texts }
        expect(name, "a list of at most \(most) strings, \(expectation)")
        return []
    }

    /// Throws `invalid` if a value did not fit or a name is unknown.
    func finish() throws(CommandError) {
        guard problems.isEmpty else { throw problems.error }
    }

    private mutating func expect(_ name: String, _ what: String) {
        let got = options[name]?.gist
        problems.add("\(field)/\(name)", expected: "\(name), \(what)", got: got)
    }

    private static func text(_ number: Double) -> String {
        Int64(exactly: number).map(String.init) ?? String(number)
    }
}
