import JSON
import TestRig
import Testing

@testable import QuickConnect

@Suite("Members and items that are declared with a type")
struct MemberCheckTests {
    private static func declare(
        _ name: String,
        _ kind: Parameter.Kind,
        _ change: (inout Parameter) -> Void = { _ in }
    ) -> Parameter {
        var parameter = Parameter(name, kind)
        change(&parameter)
        return parameter
    }

    private static func object(_ name: String, _ members: Parameter.Member...) -> Parameter {
        declare(name, .object) { $0.members = members }
    }

    private static let rate = declare("rate", .integer) { ($0.minimum, $0.isOptional) = (0, true) }
    private static let tune = declare("tune", .string) { ($0.oneOf, $0.maxLength) = (["plain", "siren"], 8) }
    private static let steps = declare("steps", .array) { steps in
        steps.items = declare("", .integer) { ($0.minimum, $0.maximum) = (1, 9) }
        steps.isOptional = true
    }
    private static let inner = declare("inner", .object) { inner in
        inner.members = [Parameter.Member(declare("on", .boolean))]
        inner.isOptional = true
    }
    /// A string, and an object with a member that is needed, optional ones, a list, and an object.
    private static let list = ParameterList([
        declare("file", .string),
        object(
            "options",
            Parameter.Member(rate),
            Parameter.Member(tune),
            Parameter.Member(steps),
            Parameter.Member(inner)
        ),
    ])

    private static func error(_ text: String, _ list: ParameterList = list) -> CommandError? {
        let line = #"{"handlerName":"a","data":\#(text)}"#
        guard case .call(let request)? = messages(of: Array(line.utf8)).first else {
            return CommandError(.internal, "no call")
        }
        do throws(CommandError) {
            _ = try list.check(request)
            return nil
        } catch {
            return error
        }
    }

    private static func sentences(_ text: String, _ list: ParameterList = list) -> [String] {
        error(text, list).map { $0.message.split(separator: "; /").map(String.init) } ?? []
    }

    @Test(arguments: [
        #"["x",{"tune":"plain"}]"#, #"["x",{"tune":"siren","rate":0}]"#, #"["x",{"tune":"plain","rate":null}]"#,
        #"["x",{"tune":"plain","rate":3.0,"steps":[]}]"#, #"["x",{"tune":"plain","steps":[1,9,9.0]}]"#,
        #"["x", { "steps" : [ 1 , 2 ] , "tune" : "plain" , "inner" : { "on" : true } } ]"#,
        #"["x",{"\u0074une":"plain"}]"#, #"["x",{"tune":"plain","steps":null,"inner":null}]"#,
    ])
    func `what fits passes`(text: String) { #expect(Self.sentences(text) == []) }

    @Test func `of a number its unit is told, which stands in its help`() {
        let gain = Self.declare("gain", .number) { ($0.maximum, $0.help) = (60, "decibels") }
        let loud = Self.declare("loud", .boolean) { ($0.isOptional, $0.help) = (true, "as loud as it can be") }
        let list = ParameterList([Self.object("options", Parameter.Member(gain), Parameter.Member(loud))])
        let sentences = [
            "/0/gain: expected gain, a number of at most 60, decibels; got the number 61",
            "loud: expected loud, true or false; got the number 1",
        ]
        #expect(Self.error(#"[{"gain":61,"loud":1}]"#, list)?.message == sentences.joined(separator: "; /0/"))
    }

    @Test(arguments: [
        (#"["x",{}]"#, #"/1/tune: expected tune, one of "plain", "siren"; got nothing"#),
        (
            #"["x",{"tune":"plain","rate":-1}]"#,
            "/1/rate: expected rate, an integer of at least 0; got the number -1"
        ),
        (
            #"["x",{"tune":"plain","rate":"1"}]"#,
            #"/1/rate: expected rate, an integer of at least 0; got the string "1""#
        ),
        (#"["x",{"tune":null}]"#, #"/1/tune: expected tune, one of "plain", "siren"; got null"#),
        (
            #"["x",{"tune":"plain","steps":[1,0]}]"#,
            "/1/steps/1: expected an integer from 1 to 9; got the number 0"
        ),
        (
            #"["x",{"tune":"plain","steps":{"a":1}}]"#,
            #"/1/steps: expected steps, an array; got the object {"a":1}"#
        ),
        (
            #"["x",{"tune":"plain","inner":{"on":1}}]"#,
            "/1/inner/on: expected on, true or false; got the number 1"
        ),
        (#"["x",{"tune":"plain","inner":{}}]"#, "/1/inner/on: expected on, true or false; got nothing"),
        (#"["x",{"tune":"plain","inner":[true]}]"#, "/1/inner: expected inner, an object; got the array [true]"),
        (
            #"["x",{"tune":"plain","rat":1}]"#,
            "/1/rat: expected one of rate, tune, steps, inner; got 'rat', did you mean 'rate'?"
        ),
        (
            #"["x",{"tune":"plain","a/b~":1}]"#,
            "/1/a~1b~0: expected one of rate, tune, steps, inner; got 'a/b~'"
        ),
        (
            #"["x",{"tune":"plain","inner":{"on":true,"off":1}}]"#,
            "/1/inner/off: expected one of on; got 'off'"
        ),
    ])
    func `each problem is told with its place`(text: String, message: String) {
        #expect(Self.error(text)?.code == .invalid)
        #expect(Self.error(text)?.message == message)
    }

    @Test func `all problems are told at once, and the last value of a name that stands twice does not hide the first`()
    {
        let text = #"[1,{"rate":"x","rate":1,"steps":[0,true],"inner":{"on":null}}]"#
        let fields = Self.error(text)?.details["fields"]?.arrayValue?.compactMap {
            $0.objectValue?["field"]?.stringValue
        }
        #expect(fields == ["/0", "/1/rate", "/1/steps/0", "/1/steps/1", "/1/inner/on", "/1/tune"])
    }

    @Test func `members that are only described are not checked, and unknown ones pass beside them`() {
        let some = Self.object("o", Parameter.Member("any", help: "a text"), Parameter.Member(Self.rate))
        let list = ParameterList([some])
        #expect(Self.sentences(#"[{"any":1,"other":2,"rate":3}]"#, list) == [])
        #expect(Self.sentences(#"[{"rate":"x"}]"#, list).count == 1)
        let none = ParameterList([Self.object("o", Parameter.Member("rate", help: "a text"))])
        #expect(Self.sentences(#"[{"rate":"x","a":1}]"#, none) == [])
    }

    @Test func `what an object or an array of any type has is checked, and other values pass`() {
        let any = Self.declare("a", .any) { any in
            any.members = [Parameter.Member(Self.rate)]
            any.items = Parameter("", .string)
            any.repeats = true
        }
        let list = ParameterList([any])
        #expect(Self.sentences(#"[1,"x",null,{"rate":1},["a"],{},[]]"#, list) == [])
        let fields = [#"[{"x":1}]"#, #"[[1]]"#, #"[1,["a",1]]"#, #"[1,2,{"rate":-1}]"#].map { text in
            Self.error(text, list)?.details["fields"]?.arrayValue?.first?.objectValue?["field"]?.stringValue
        }
        #expect(fields == ["/0/x", "/0/0", "/1/1", "/2/rate"])
    }

    @Test func `an object at the end that fills a later parameter is checked at its own place`() {
        let count = Self.declare("count", .integer) { $0.isOptional = true }
        let list = ParameterList([Parameter("file", .string), count, Self.object("o", Parameter.Member(Self.rate))])
        #expect(Self.sentences(#"["x",{"rate":1}]"#, list) == [])
        #expect(Self.error(#"["x",{"rate":-1}]"#, list)?.message.hasPrefix("/1/rate: ") == true)
    }

    @Test func `a value with members takes only what fits, when it is set and when it is read from a file`() {
        var parameter = Self.object("value", Parameter.Member(Self.rate), Parameter.Member(Self.tune))
        parameter.isOptional = true
        let value = ValueDeclaration(parameter)
        #expect(value.accept(["rate": 1, "tune": "plain"]) == ["rate": 1, "tune": "plain"])
        for wrong: JSONValue in [["rate": 1], ["tune": "x"], ["tune": "plain", "b": 1], []] {
            #expect(value.accept(wrong) == nil && value.fitting(wrong) == nil)
        }
        #expect(Self.error(#"[{"tune":"plain","rate":-1}]"#, ParameterList(value.commandParameters)) != nil)
        #expect(value.result.isOptional && value.result.kind == .object)
    }

    /// Whatever is sent, one call must not hold up the others.
    @Test(.measured) func `sixteen megabytes are checked quickly, and answered with a short error`() throws {
        let most = 16 << 20
        func filled(_ start: String, _ item: String, _ end: String) -> String {
            start + String(repeating: item + ",", count: (most - 64) / (item.utf8.count + 1)) + item + end
        }
        var deep = Self.declare("d", .array)
        for _ in 0..<40 { deep = Self.declare("", .array) { $0.items = deep } }
        let texts = Self.declare("t", .array) { texts in
            texts.items = Self.declare("", .string) { $0.oneOf = (0..<100).map { .string("\($0)") } }
        }
        let wide = Self.object("w")
        let manyMembers = Self.declare("m", .array) { many in
            many.items = Self.declare("", .object) { object in
                object.members = (0..<1000).map { Parameter.Member(Parameter("member\($0)", .integer)) }
            }
        }
        let long = String(repeating: "n", count: 4 << 20)
        let attacks: [(String, ParameterList)] = [
            (filled(#"["x",{"tune":"plain","steps":["#, "0", "]}]"), Self.list),
            (filled(#"["x",{"tune":"plain","steps":["#, "1", "]}]"), Self.list),
            (filled(#"["x",{"#, #""a":1"#, "}]"), Self.list), (filled(#"["x",{"#, #""rate":1"#, "}]"), Self.list),
            (filled(#"["x",{"#, #""\u0072ate":1"#, "}]"), Self.list),
            (filled("[[", #""a""#, "]]"), ParameterList([texts])),
            (filled("[[", "{}", "]]"), ParameterList([manyMembers])),
            (
                filled("[" + String(repeating: "[", count: 41), "[]", String(repeating: "]", count: 41) + "]"),
                ParameterList([deep])
            ),
            (#"["x",{"\#(long)":1,"\#(long)/":{}}]"#, Self.list),
            (filled("[{", #""a":{}"#, "}]"), ParameterList([wide])),
        ]
        for (text, list) in attacks {
            let line = Array(#"{"handlerName":"a","data":\#(text)}"#.utf8)
            guard case .call(let request)? = messages(of: line).first else {
                Issue.record("no call: \(text.prefix(60))")
                continue
            }
            let start = ContinuousClock.now
            var error: CommandError?
            do throws(CommandError) { _ = try list.check(request) } catch let found { error = found }
            let taken = ContinuousClock.now - start
            // A check of each member takes minutes.
            #expect(taken < .seconds(10), "\(text.prefix(60)): \(taken)")
            #expect((error?.payload(command: "a").text.utf8.count ?? 0) < 8 << 10)
        }
    }

    @Test func `more members and items than are examined are invalid`() {
        let items = Array(repeating: "1", count: MemberCheck.most + 1).joined(separator: ",")
        let message = Self.error(#"["x",{"tune":"plain","steps":[\#(items)]}]"#)?.message
        #expect(message == "/1: expected at most 10000 members and items, as many as are checked; got more")
        let fewer = Array(repeating: "1", count: MemberCheck.most - 100).joined(separator: ",")
        #expect(Self.sentences(#"["x",{"tune":"plain","steps":[\#(fewer)]}]"#) == [])
    }
}
