public import JSON

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

    /// A name in a JSON pointer (RFC 6901), shortened if a caller has made up a long one.
    public static func pointer(_ name: String) -> String {
        name.shortened.replacing("~", with: "~0").replacing("/", with: "~1")
    }
}

/// The problems of a call. An error shows the first of them.
public struct FieldProblems: Sendable {
    /// The most problems shown: an error must not be much larger than the call it answers.
    public static let shown = 16

    /// The most bytes that the shown problems take. An error contains each of them twice.
    private static let maxBytes = 1024
    /// The most bytes that the descriptions of what came take, encoded in the URL form.
    private static let maxBytesOfGists = 640

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
        guard first.count < Self.shown, bytes < Self.maxBytes else { return }
        let problem = FieldProblem(field: field(), expected: expected())
        bytes += problem.field.utf8.count + problem.expected.utf8.count
        guard first.isEmpty || bytes <= Self.maxBytes else { return }
        let room = bytesOfGists < Self.maxBytesOfGists
        first.append((problem, room ? bounded(got()) : nil))
    }

    /// The description of what came, unless it would make the error much larger than the call it answers.
    private mutating func bounded(_ got: String?) -> String? {
        guard let got else { return nil }
        bytesOfGists += 12 + got.utf8.reduce(0) { $0 + Self.maxEncoded($1) }
        return bytesOfGists <= Self.maxBytesOfGists ? got : nil
    }

    /// How many bytes a byte of a JSON string takes when it is percent-encoded.
    private static func maxEncoded(_ byte: UInt8) -> Int {
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

/// Why a call failed: a code from a fixed list, a sentence for people, and details for programs.
///
/// An error renders its own reply (``payload(command:)``): the JSON object
/// `{"cmd", "code", "message", …details}` of an error reply in either wire form.
public struct CommandError: Error, Sendable, Equatable {
    /// The fixed list of codes. Clients switch over it, so a new code needs a new protocol version.
    public enum Code: String, Sendable, CaseIterable {
        /// The line or message does not have the protocol's form.
        case badRequest
        /// No mapping has this command.
        case unknownCommand
        /// The caller may not run this command.
        case denied
        /// The parameters do not fit, or a validation command object refused.
        case invalid
        /// What the parameters name does not exist.
        case notFound
        /// Not possible now: the device is missing, unplugged or not answering.
        case unavailable
        /// Not possible on this device at all.
        case unsupported
        /// Somebody else is using it.
        case busy
        /// Not done within the call's timeout.
        case timeout
        /// Ended by `cancel`, by `stop`, or because the daemon stops.
        case cancelled
        /// Longer or deeper than the limits allow.
        case tooLarge
        /// More calls or connections than the limits allow.
        case overloaded
        /// A script or handler failed.
        case scriptFailed
        /// A bug in the daemon; the log has the details.
        case `internal`
    }

    /// The command that errors have in the URL form. No command and no event may have this name.
    public static let replyCommand = "error"

    /// What kind of error it is.
    public var code: Code
    /// One sentence for people: what failed, why, and, if that helps, how to fix it.
    public var message: String
    /// Further members of the reply, such as `fields`, `nearest` or `rule`.
    public var details: JSONObject

    /// An error with a sentence for people, and details for programs.
    public init(_ code: Code, _ message: String, details: JSONObject = [:]) {
        self.code = code
        self.message = message
        self.details = details
    }

    /// Where the script of a handler failed, `file:line:column`; nil if it gave no line.
    package var place: String? { Self.place(in: details) }

    /// The same of the members of an error that has been received.
    package static func place(in members: JSONObject) -> String? {
        guard let file = members["file"]?.stringValue, let line = members["line"]?.integerValue else { return nil }
        // What a path ends with tells the file.
        let name =
            file.utf8.count > 128 ? "…/\((file.split(separator: "/").last.map(String.init) ?? "").shortened)" : file
        return "\(name):\(line)\(members["column"]?.integerValue.map { ":\($0)" } ?? "")"
    }

    /// The sentence, with the place of a script behind it.
    package var placedMessage: String { place.map { "\(message) (\($0))" } ?? message }

    /// The error as the JSON object that replies carry.
    /// - Parameter command: the command of the call that failed; left out if it could not be read.
    public func payload(command: String?) -> JSONValue {
        var object: JSONObject = [:]
        if let command { object["cmd"] = .string(command) }
        object["code"] = .string(code.rawValue)
        object["message"] = .string(message)
        for (name, value) in details where object[name] == nil { object[name] = value }
        return .object(object)
    }
}

/// Lists of names for error messages. An owner may write many long names, and an error contains such a list several
/// times, but must not be much larger than the call it answers.
enum NameList {
    /// `a, b, … and 12 more, z`: the first names that fit, how many are left out, and always the last one.
    /// - Parameter bytes: the most bytes that the names before the last one take.
    static func text(_ names: [String], bytes: Int) -> String {
        var room = bytes
        let shown = names.dropLast().map(\.shortened).prefix { name in
            room -= name.utf8.count
            return room >= 0
        }
        let left = names.count - 1 - shown.count
        return (shown + (left > 0 ? ["… and \(left) more"] : []) + names.suffix(1).map(\.shortened))
            .joined(separator: ", ")
    }

    /// The names as YAML writes them in a list, for a line that an owner may paste; nil if they are too long to show.
    /// - Parameter bytes: the most bytes that the names before the last one take.
    static func whole(_ names: [String], bytes: Int) -> String? {
        guard names.dropLast().reduce(0, { $0 + $1.utf8.count }) <= bytes else { return nil }
        return names.map { quoted($0.shortened) }.joined(separator: ", ")
    }

    /// A name as YAML writes it in a list. Anything but a plain word is quoted, because an owner may paste the line.
    static func quoted(_ name: String) -> String {
        let isPlain = name.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "-"), UInt8(ascii: "."),
                UInt8(ascii: ":"), 0x80...:
                true
            default: false
            }
        }
        return isPlain && !name.isEmpty && name.utf8.last != UInt8(ascii: ":") ? name : JSONValue.string(name).text
    }
}
