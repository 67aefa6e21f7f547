import JSON

/// One parameter that does not fit: where, as a JSON pointer into the parameter array, and what was expected.
public struct FieldProblem: Sendable, Hashable {
    public var field: String
    public var expected: String

    public init(field: String, expected: String) {
        self.field = field
        self.expected = expected
    }
}

/// The problems of a call, of which an error shows the first ones.
public struct FieldProblems: Sendable {
    /// An error must not be larger than what it answers.
    public static let shown = 16

    /// What the problems that are shown take, at most: an error says each of them twice.
    private static let mostBytes = 1024

    private var first: [FieldProblem] = []
    private var bytes = 0
    private(set) var count = 0

    public init() {}

    public var isEmpty: Bool { count == 0 }

    public mutating func add(_ field: @autoclosure () -> String, expected: @autoclosure () -> String) {
        count += 1
        guard first.count < Self.shown, bytes < Self.mostBytes else { return }
        let problem = FieldProblem(field: field(), expected: expected())
        bytes += problem.field.utf8.count + problem.expected.utf8.count
        if first.isEmpty || bytes <= Self.mostBytes { first.append(problem) }
    }

    /// Adds so many more that are not shown one by one.
    public mutating func add(more: Int) { count += more }

    /// `invalid`, with all failing fields at once: `"fields": [{"field": "/0", "expected": "an integer"}, …]`; of many
    /// the first, with `"more"` telling how many others there are.
    public var error: CommandError {
        var sentences = first.map { "\($0.field.isEmpty ? "parameters" : $0.field): expected \($0.expected)" }
        var details: JSONObject = [
            "fields": .array(first.map { ["field": .string($0.field), "expected": .string($0.expected)] })
        ]
        let more = count - first.count
        if more > 0 {
            sentences.append("and \(more) more")
            details["more"] = .integer(Int64(more))
        }
        return CommandError(.invalid, sentences.joined(separator: "; "), details: details)
    }
}

extension CommandError {
    /// `invalid` for one field, given as a JSON pointer into the parameter array.
    public static func invalid(_ field: String, expected: String) -> CommandError {
        var problems = FieldProblems()
        problems.add(field, expected: expected)
        return problems.error
    }
}
