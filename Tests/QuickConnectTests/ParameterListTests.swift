import JSON
import Testing

@testable import QuickConnect

@Suite("Declared parameters")
struct ParameterListTests {
    private static func parameter(
        _ name: String,
        _ kind: Parameter.Kind,
        _ change: (inout Parameter) -> Void = { _ in }
    ) -> Parameter {
        var parameter = Parameter(name, kind)
        change(&parameter)
        return parameter
    }

    /// The arguments that command objects see, or the error with the fields that fail.
    private static func arguments(_ parameters: [Parameter], _ sent: [JSONValue]) -> Result<[JSONValue], CommandError> {
        let line = #"{"handlerName":"a","data":\#(JSONValue.array(sent).text)}"#
        guard case .call(let request)? = messages(of: Array(line.utf8)).first else {
            return .failure(CommandError(.internal, "no call"))
        }
        let list = ParameterList(parameters)
        return Result { () throws(CommandError) in
            var call = Call(keeping: request, CommandDescription("a", list), on: NoConnection())
            call.trailing = try list.check(request)
            return arguments(of: call, parameters)
        }
    }

    /// What command objects see: a whole number as an integer, also where it was written as 3.0.
    private static func arguments(of call: borrowing Call, _ parameters: [Parameter]) -> [JSONValue] {
        var arguments = call.arguments
        for (index, parameter) in parameters.enumerated() where parameter.kind == .integer {
            if let integer = call.integer(index) { arguments[index] = .integer(integer) }
        }
        return arguments
    }

    private static func problems(_ parameters: [Parameter], _ sent: [JSONValue]) -> [String] {
        guard case .failure(let error) = arguments(parameters, sent), error.code == .invalid else { return [] }
        return (error.details["fields"]?.arrayValue ?? []).map { field in
            "\(field.objectValue?["field"]?.stringValue ?? "?") \(field.objectValue?["expected"]?.stringValue ?? "?")"
        }
    }

    @Test(
        "Each type takes its values and no other",
        arguments: [
            (.string, ["", "x"], [1, true, nil, [], [:]]),
            (.integer, [0, -1, 3.0, .integer(.max)], [1.5, "1", true, nil, 1e30, []]),
            (.number, [0, 1.5, -1e300], ["1", true, nil]), (.boolean, [true, false], [0, 1, "true", nil]),
            (.object, [[:], ["a": 1]], [[], "x", nil]), (.array, [[], [1]], [[:], 1, nil]),
            (.any, [nil, 1, "x", [], [:], true], []),
        ] as [(Parameter.Kind, [JSONValue], [JSONValue])]
    )
    func types(kind: Parameter.Kind, good: [JSONValue], bad: [JSONValue]) throws {
        let list = [Parameter("p", kind)]
        for value in good {
            let expected: JSONValue = kind == .integer ? .integer(value.integerValue ?? 0) : value
            #expect(try Self.arguments(list, [value]).get() == [expected])
        }
        for value in bad { #expect(Self.problems(list, [value]).count == 1) }
    }

    @Test("Parameters in a list of their own are told to come one by one, once")
    func listOfParameters() {
        let title = Parameter("title", .string), item = Self.parameter("item", .string) { $0.repeats = true }
        for sent in [[["Colour", "red"]], ["Colour", ["red"], ["green"]]] as [[JSONValue]] {
            guard case .failure(let error) = Self.arguments([title, item], sent) else {
                Issue.record("it fits")
                continue
            }
            #expect(error.message.split(separator: "(give parameters one by one, not in a list").count == 2, "\(error)")
        }
        guard case .failure(let other) = Self.arguments([title], [7]) else { return }
        #expect(!other.message.contains("one by one"), "\(other)")
    }

    @Test("minimum, maximum, maxLength and oneOf bound the values")
    func bounds() {
        let level = Self.parameter("level", .integer) { ($0.minimum, $0.maximum) = (-1, 9) }
        let gain = Self.parameter("gain", .number) { $0.minimum = 0.5 }
        let name = Self.parameter("name", .string) { $0.maxLength = 2 }
        let verb = Self.parameter("verb", .string) { $0.oneOf = ["start", "stop"] }
        let rate = Self.parameter("rate", .number) { $0.oneOf = [1, 2.5] }
        let cases: [(Parameter, good: [JSONValue], bad: [JSONValue], String)] = [
            (level, [-1, 0, 9, 9.0], [-2, 10], "/0 level, an integer from -1 to 9"),
            (gain, [0.5, 1], [0.4, 0], "/0 gain, a number of at least 0.5"),
            (name, ["", "éé", "👩‍👩‍👧‍👦👩‍👩‍👧‍👦"], ["abc"], "/0 name, a string of at most 2 characters"),
            (verb, ["start"], ["Start", ""], #"/0 verb, one of "start", "stop""#),
            // A rule for a verb compares bytes; what it does not know must not pass for one.
            (
                Self.parameter("verb", .string) { $0.oneOf = ["\u{F6}ffnen", "Klingeln"] }, ["\u{F6}ffnen"],
                ["o\u{308}ffnen", "\u{212A}lingeln"],
                "/0 verb, one of \"\u{F6}ffnen\", \"Klingeln\""
            ),
            (rate, [1, 1.0, 2.5], [2, 0], "/0 rate, one of 1, 2.5"),
        ]
        for (parameter, good, bad, problem) in cases {
            for value in good { #expect(throws: Never.self) { try Self.arguments([parameter], [value]).get() } }
            for value in bad { #expect(Self.problems([parameter], [value]) == [problem]) }
        }
    }

    @Test("All failing fields are told at once, each by its JSON pointer")
    func allProblems() {
        let list = [Parameter("a", .string), Parameter("b", .integer), Parameter("c", .boolean)]
        #expect(Self.problems(list, []) == ["/0 a, a string", "/1 b, an integer", "/2 c, true or false"])
        #expect(Self.problems(list, [1, 2]) == ["/0 a, a string", "/2 c, true or false"])
        #expect(
            Self.problems(list, ["x", "y", true, 4, 5]) == [
                "/1 b, an integer", "/3 nothing (the command takes at most 3 parameters)",
                "/4 nothing (the command takes at most 3 parameters)",
            ]
        )
        guard case .failure(let error) = Self.arguments(list, [1, 2]) else { return }
        #expect(
            error.message == "/0: expected a, a string; got the number 1; /2: expected c, true or false; got nothing"
        )
    }

    @Test("Of many failing fields the first 16 are told, and how many more there are")
    func manyProblems() throws {
        func error(_ parameters: [Parameter], _ sent: [JSONValue]) throws -> CommandError {
            guard case .failure(let error) = Self.arguments(parameters, sent) else {
                throw CommandError(.internal, "they fit")
            }
            return error
        }
        let list = (0..<20).map { Parameter("p\($0)", .string) }
        let many = try error(list, Array(repeating: 1, count: 20))
        #expect(many.details["fields"]?.arrayValue?.count == 16)
        #expect(many.details["more"] == 4)
        #expect(
            many.message.hasPrefix("/0: expected p0, a string; got the number 1; /1: ")
                && many.message.hasSuffix("; and 4 more")
        )
        let sixteen = try error(Array(list.prefix(16)), Array(repeating: 1, count: 16))
        #expect(sixteen.details["fields"]?.arrayValue?.count == 16)
        #expect(sixteen.details["more"] == nil)
        let surplus = try error([], Array(repeating: 1, count: 100_000))
        #expect(surplus.details["fields"]?.arrayValue?.count == 16)
        #expect(surplus.details["more"] == 99_984)
        let names = Self.parameter("name", .string) { $0.repeats = true }
        let repeated = try error([names], Array(repeating: 1, count: 100_000))
        #expect(repeated.details["more"] == 99_984)
        #expect(repeated.message.utf8.count < 1000)
    }

    @Test("Field problems are counted, shown and told, each by its pointer; one for all by the word parameters")
    func fieldProblems() {
        var problems = FieldProblems()
        #expect(problems.isEmpty)
        problems.add("", expected: "at most two")
        problems.add("/1/a", expected: "a string")
        #expect(!problems.isEmpty && problems.count == 2)
        #expect(problems.error.code == .invalid)
        #expect(problems.error.message == "parameters: expected at most two; /1/a: expected a string")
        problems.add(more: 0)
        #expect(problems.error.details["more"] == nil)
        for _ in 0..<14 { problems.add("/2", expected: "a number") }
        let isAsked = Journal()
        func field() -> String {
            isAsked.note("field")
            return "/3"
        }
        problems.add(field(), expected: "nothing")
        // What is not shown is not put into words.
        #expect(isAsked.notes == [])
        #expect(problems.error.details["fields"]?.arrayValue?.count == 16)
        #expect(problems.error.details["more"] == 1)
        problems.add(more: 7)
        #expect(problems.error.details["more"] == 8)
        #expect(problems.error.message.hasSuffix("; and 8 more"))
        let one = CommandError.invalid("/0", expected: "a name")
        #expect(one.message == "/0: expected a name")
        #expect(one.details["fields"] == [["field": "/0", "expected": "a name"]])
    }

    @Test("A problem says what came, in so many words that the error stays small")
    func got() throws {
        var problems = FieldProblems()
        problems.add("/0", expected: "file, a string", got: JSONValue.integer(7).gist)
        problems.add("/1", expected: "a number")
        #expect(problems.error.message == "/0: expected file, a string; got the number 7; /1: expected a number")
        // Fields are for programs, which know what they sent.
        let fields: JSONValue = [
            ["field": "/0", "expected": "file, a string"], ["field": "/1", "expected": "a number"],
        ]
        #expect(problems.error.details["fields"] == fields)
        let one = CommandError.invalid("/0", expected: "a name", got: "nothing")
        #expect(one.message == "/0: expected a name; got nothing")
        for text in ["a", "\"", "\\", "\u{1}", "ä", "𝄞", " "] {
            let sent = Array(repeating: JSONValue.string(String(repeating: text, count: 50)), count: 20)
            guard case .failure(let error) = Self.arguments((0..<20).map { Parameter("p\($0)", .integer) }, sent) else {
                throw CommandError(.internal, "they fit")
            }
            #expect(error.message.contains("; got the string "), "\(text)")
            let reply = PercentEncoding.encode(JSONValue.object(error.details).text + error.message)
            let line = PercentEncoding.encode(JSONValue.array(sent).text)
            #expect(reply.utf8.count < line.utf8.count + 4096, "\(text): \(reply.utf8.count)")
        }
    }

    @Test("Where all fit nothing is put into words")
    func quiet() {
        var problems = FieldProblems()
        let isAsked = Journal()
        func gist() -> String? {
            isAsked.note("gist")
            return "nothing"
        }
        for _ in 0..<FieldProblems.shown { problems.add("/0", expected: "a", got: "the number 1") }
        problems.add("/0", expected: "a", got: gist())
        #expect(isAsked.notes == [])
    }

    @Test("An empty list takes nothing, a surplus is invalid")
    func surplus() throws {
        #expect(try Self.arguments([], []).get() == [])
        #expect(Self.problems([], [nil]) == ["/0 nothing (the command takes no parameters)"])
        #expect(Self.problems([Parameter("a", .any)], [1, 2]) == ["/1 nothing (the command takes one parameter)"])
    }

    @Test("An optional one may be left out or null, and its default stands in; null is a value for any")
    func optional() throws {
        let loops = Self.parameter("loops", .integer) { ($0.isOptional, $0.defaultValue) = (true, 1) }
        let from = Self.parameter("from", .number) { $0.isOptional = true }
        let data = Self.parameter("data", .any) { ($0.isOptional, $0.defaultValue) = (true, "none") }
        let list = [Parameter("file", .string), loops, from, data]
        #expect(try Self.arguments(list, ["a"]).get() == ["a", 1, nil, "none"])
        #expect(try Self.arguments(list, ["a", nil, nil, nil]).get() == ["a", 1, nil, nil])
        #expect(try Self.arguments(list, ["a", 3, 0.5, 7]).get() == ["a", 3, 0.5, 7])
        #expect(Self.problems(list, [nil]) == ["/0 file, a string"])
    }

    @Test("A trailing object fills the last parameter of type object, past optional ones that are left out")
    func trailingObject() throws {
        let verb = Self.parameter("verb", .string) { $0.isOptional = true }
        let loops = Self.parameter("loops", .integer) { ($0.isOptional, $0.defaultValue) = (true, 1) }
        let options = Self.parameter("options", .object) { $0.isOptional = true }
        let list = [Parameter("file", .string), verb, loops, options]
        #expect(try Self.arguments(list, ["a", ["v": 1]]).get() == ["a", nil, 1, ["v": 1]])
        #expect(try Self.arguments(list, ["a", "start", ["v": 1]]).get() == ["a", "start", 1, ["v": 1]])
        #expect(try Self.arguments(list, ["a", "start", 2, ["v": 1]]).get() == ["a", "start", 2, ["v": 1]])
        #expect(Self.problems(list, [["v": 1]]) == ["/0 file, a string"])
        #expect(Self.problems(list, ["a", 1, ["v": 1]]) == ["/1 verb, a string"])
        #expect(Self.problems(list, ["a", "b", 1, 2]) == ["/3 options, an object"])
        #expect(try Self.arguments([verb, options], [["v": 1]]).get() == [nil, ["v": 1]])
    }

    @Test("The last parameter may repeat, each of its values checked, its first one needed unless optional")
    func repeats() throws {
        let names = Self.parameter("name", .string) { $0.repeats = true }
        let numbers = Self.parameter("number", .integer) { ($0.repeats, $0.isOptional, $0.maximum) = (true, true, 9) }
        #expect(try Self.arguments([names], ["a", "b", "c"]).get() == ["a", "b", "c"])
        #expect(Self.problems([names], []) == ["/0 name, a string"])
        #expect(Self.problems([names], ["a", 1, "b", 2]) == ["/1 name, a string", "/3 name, a string"])
        #expect(try Self.arguments([Parameter("x", .any), numbers], [0]).get() == [0, nil])
        #expect(try Self.arguments([Parameter("x", .any), numbers], [0, 1, 2]).get() == [0, 1, 2])
        #expect(Self.problems([Parameter("x", .any), numbers], [0, 1, 10]) == ["/2 number, an integer of at most 9"])
    }
}
