import JSON

/// One parameter that does not fit: where it is, as a JSON pointer into the parameter array, and what was expected.
public struct FieldProblem: Sendable, Hashable {
    /// A JSON pointer into the parameters: `/0`, `/1/volume`.
    public var field: String
    /// What would have been accepted.
    public var expected: String

    /// A field that does not fit, and what would have been accepted.
    public init(field: String, expected: String) {
        self.field = field
        self.expected = expected
    }
}

/// The problems of a call. An error shows the first of them.
public struct FieldProblems: Sendable {
    /// The most problems shown: an error must not be much larger than the call it answers.
    public static let shown = 16

    /// The most bytes that the shown problems take. An error contains each of them twice.
    private static let mostBytes = 1024
    /// The most bytes that the descriptions of what came take, encoded in the URL form.
    private static let mostBytesOfGists = 640

    private var first: [(problem: FieldProblem, got: String?)] = []
    private var bytes = 0
    private var bytesOfGists = 0
    private(set) var count = 0

    /// No problems yet.
    public init() {}

    /// Whether none has been added.
    public var isEmpty: Bool { count == 0 }

    /// Adds a problem. After the first few, only their number is kept.
    /// - Parameter got: what came instead, in a few words (``JSON/JSONValue/gist``); nil leaves it out.
    public mutating func add(
        _ field: @autoclosure () -> String,
        expected: @autoclosure () -> String,
        got: @autoclosure () -> String? = nil
    ) {
        count += 1
        guard first.count < Self.shown, bytes < Self.mostBytes else { return }
        let problem = FieldProblem(field: field(), expected: expected())
        bytes += problem.field.utf8.count + problem.expected.utf8.count
        guard first.isEmpty || bytes <= Self.mostBytes else { return }
        let room = bytesOfGists < Self.mostBytesOfGists
        first.append((problem, room ? bounded(got()) : nil))
    }

    /// The description of what came, unless it would make the error much larger than the call it answers.
    private mutating func bounded(_ got: String?) -> String? {
        guard let got else { return nil }
        bytesOfGists += 12 + got.utf8.reduce(0) { $0 + Self.mostEncoded($1) }
        return bytesOfGists <= Self.mostBytesOfGists ? got : nil
    }

    /// How many bytes a byte of a JSON string takes when it is percent-encoded.
    private static func mostEncoded(_ byte: UInt8) -> Int {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            1
        case UInt8(ascii: "\""), UInt8(ascii: "\\"): 6
        default: 3
        }
    }

    /// Adds that many more problems that are not shown one by one.
    public mutating func add(more: Int) { count += more }

    /// `invalid`, with all failing fields at once: `"fields": [{"field": "/0", "expected": "an integer"}, …]`; if there
    /// are many, only the first, and `"more"` gives the number of the others. The message says what came, too: `/0:
    /// expected an integer; got the string "x"`.
    public var error: CommandError {
        var sentences = first.map { problem, got in
            let name = problem.field.isEmpty ? "parameters" : problem.field
            return "\(name): expected \(problem.expected)" + (got.map { "; got \($0)" } ?? "")
        }
        let fields = first.map { problem, _ -> JSONValue in
            ["field": .string(problem.field), "expected": .string(problem.expected)]
        }
        var details: JSONObject = ["fields": .array(fields)]
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
    /// - Parameter got: what came instead, in a few words (``JSON/JSONValue/gist``); nil leaves it out.
    public static func invalid(_ field: String, expected: String, got: String? = nil) -> CommandError {
        var problems = FieldProblems()
        problems.add(field, expected: expected, got: got)
        return problems.error
    }
}
