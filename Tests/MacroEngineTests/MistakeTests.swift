import JavaScriptCore
import MacroEngine
import TestRig
import Testing

/// What is wrong in a macro's text, and what it throws.
@Suite struct MistakeTests {
    let engine = MacroEngine()
    let heard: Heard

    init() { heard = Heard(engine) }

    struct Mistake: CustomTestStringConvertible {
        let text: String
        let line: Int?
        let message: String
        var testDescription: String { text }

        init(_ text: String, _ line: Int?, _ message: String) {
            (self.text, self.line, self.message) = (text, line, message)
        }
    }

    private static let one = "one function and nothing else"

    @Test(arguments: [
        Mistake("function() {\n  var = 1;\n}", 2, "Unexpected token '='"),
        Mistake("function() {\r\n  a b;\r\n}", 2, "Unexpected identifier 'b'"),
        Mistake("// first\u{2028}// second\nfunction() { ] }", 3, "Unexpected token ']'"),
        Mistake("function() { } }", 1, "Unexpected token '}'"),
        Mistake("function() { })", 1, "Unexpected token ')'"),
        Mistake("function() { }\n]", 2, "Unexpected token ']'"),
        Mistake("function() {\n  if (a) {\n}", 3, "Unexpected end of script"),
        Mistake("function() {\n  /* open\n}\n", 4, "comment"),
        Mistake("function() { return `open\n}", nil, "SyntaxError"),
        Mistake("function() { return 'open }", 1, "SyntaxError"),
        Mistake("function(a, {) {}", 1, "SyntaxError"),
        Mistake("", nil, "SyntaxError"),
        Mistake("// nothing", nil, "SyntaxError"),
        Mistake("setInnerProgress(1);", 1, one),
        Mistake("7", 1, one),
        Mistake("x", 1, one),
        Mistake("'function() {}'", 1, one),
        Mistake("function() {}()", 1, one),
        Mistake("(function() {})()", 1, one),
        Mistake("function() {}.bind(null)", 1, one),
        Mistake("function() {}[0]", 1, one),
        Mistake("function() {}`x`", 1, one),
        Mistake("function() {} + 1", 1, one),
        Mistake("function() {}, tick()", 1, one),
        Mistake("function() {}, tick", 1, one),
        Mistake("function() {}, tick() {}", 1, "SyntaxError"),
        Mistake("tick(), () => 1", 1, one),
        Mistake("tick(x => x)", 1, one),
        Mistake("x = y => 1", 1, one),
        Mistake("tick() ? x => 1 : x => 2", 1, one),
        Mistake("(tick()) || (x => 1)", 1, one),
        Mistake("(() => { while (true) {} })()", 1, one),
        Mistake("(async () => { while (true) await 0 })()", 1, one),
        Mistake("async(x)", 1, one),
        Mistake("class {}", 1, one),
        Mistake("function*() { tick() }", 1, one),
        Mistake("async function*() { tick() }", 1, one),
        Mistake("new Function('tick()')", 1, one),
        Mistake("function() {}); tick(); (function() {}", 1, "SyntaxError"),
        Mistake("function() {}]; tick(); [function() {}", 1, "SyntaxError"),
        Mistake("function() {}}); tick(); ({x:function() {}", 1, "SyntaxError"),
        Mistake("function() {}; tick()", 1, "SyntaxError"),
        Mistake("var x = function() {}", 1, "SyntaxError"),
        Mistake("function a() {}\nfunction b() {}", 2, "SyntaxError"),
        Mistake("#!/usr/bin/js\nfunction() {}", 1, "SyntaxError"),
    ])
    func aMistakeHasItsLineAndNothingRuns(_ mistake: Mistake) throws {
        engine.context.evaluateScript("var ticks = 0; var tick = () => ++ticks")
        let macro = MacroMethod(javascript: "function() { return 'old' }", key: "macro", engine: engine)
        macro.javascript = mistake.text
        let error = try #require(heard.take().first)
        #expect(error.message.hasPrefix("SyntaxError: ") && error.message.contains(mistake.message), "\(error)")
        #expect(error.file == "macro.js" && error.key == "macro")
        if let line = mistake.line { #expect(error.line == line, "\(error)") }
        #expect(error.line == nil || error.source != nil, "\(error)")
        #expect(macro.javascript == mistake.text && macro.error?.message == error.message)
        #expect(macro.call().toString() == "old")
        #expect(engine.context.evaluateScript("macro()").toString() == "old")
        #expect(engine.context["ticks"].toInt32() == 0)
        #expect(heard.take().isEmpty)
        #expect(throws: MacroError.self) { try engine.check(mistake.text, key: "macro") }
    }

    @Test(arguments: [
        ("function() {\n  var = 1;\n}", 7), ("function() {\r\n\ta b;\r\n}", 4), ("function() { } }", 16),
        ("() => { var x = ; }", 17), ("function() {\n  if (a) {\n}", 2), ("x => 'é🜨' +;", 13),
        ("function() { return 'open }", 21), ("7", nil),
    ])
    func aMistakeHasItsColumn(_ text: String, _ column: Int?) throws {
        engine.setMethod(text, key: "macro")
        let error = try #require(heard.take().first)
        #expect(error.column == column, "\(error)")
    }

    @Test func aLongLineIsNotSearchedForEver() throws {
        let text = "() => {" + String(repeating: " x = 1;", count: 30_000) + " ] }"
        engine.setMethod(text, key: "macro")
        let error = try #require(heard.take().first)
        #expect(error.line == 1 && error.column == nil)
    }

    @Test(arguments: [
        "function() { return 7 }", "function named() { return 7 }", "function(){return 7};",
        "function() { return 7 };; // end;\n",
        "() => 7", "x => 7", "async => 7", "({a} = {}, ...b) => { return 7 }", "(f = x => x) => 7",
        "/* a; */ () => 7 /* ; */",
        "// add\n\nfunction /* ( */ (/* ) */) { return 7 } // end", "\u{feff}function() { return 7 }",
        "()=>()=>8, 7".dropLast(3) + "",
        "(a /* => */) => 7", "function(a, b = () => ')') { return /[)}]/.test(')') ? 7 : 8 }", "(a = '=>') => 7",
        "function() { with ({a: 7}) { return a } }", "function() { return 007 }",
        "function() { let a = `}${7}`; return 7 }",
    ])
    func aFunctionMayBeWrittenInEveryWay(_ text: String) throws {
        let macro = MacroMethod(javascript: text, key: "macro", engine: engine)
        #expect(heard.take().isEmpty)
        let result = macro.call()
        #expect(result.isFunction || result.toInt32() == 7)
        #expect(engine.context["macro"].isFunction)
    }

    @Test(arguments: [
        "async function() { return 7 }", "async () => 7", "async (a = x => x) => 7",
        "async x => { await 0; return 7 };",
    ])
    func anAsynchronousFunctionAnswersItsPromise(_ text: String) throws {
        let macro = MacroMethod(javascript: text, key: "macro", engine: engine)
        engine.context["promise"] = macro.call()
        engine.context.evaluateScript("var got; promise.then(value => { got = value })")
        #expect(engine.context["got"].toInt32() == 7)
        #expect(heard.take().isEmpty)
    }

    @Test func anExceptionHasItsPlaceInTheText() throws {
        let text = "function(x) {\n\tif (x) missing(x);\n\treturn 1;\n}"
        let macro = MacroMethod(javascript: text, key: "find", sourceURL: "macros/find.js", engine: engine)
        #expect(macro.call(true).isUndefined)
        let error = try #require(heard.take().first)
        #expect(error.message == "ReferenceError: Can't find variable: missing")
        #expect(error.file == "macros/find.js" && error.key == "find" && error.line == 2)
        #expect(error.source == "\tif (x) missing(x);")
        #expect(error.column == 16, "\(error)")
        #expect(error.stack?.hasPrefix("find@macros/find.js:2:") == true)
        #expect(
            "\(error)" == """
                macros/find.js:2:16: ReferenceError: Can't find variable: missing
                \tif (x) missing(x);
                \t              ^
                """
        )
        #expect(macro.call(false).toInt32() == 1)
    }

    @Test func theColumnsOfTheFirstLineAreThoseOfTheText() throws {
        let first = MacroMethod(javascript: "function() { missing() }", key: "first", engine: engine)
        let second = MacroMethod(javascript: "\nfunction() { missing() }", key: "second", engine: engine)
        let outer = MacroMethod(javascript: "() => first()", key: "outer", engine: engine)
        first.call()
        second.call()
        outer.call()
        let errors = heard.take()
        #expect(errors.count == 3)
        #expect(errors[0].column == errors[1].column && errors[0].line == 1 && errors[1].line == 2)
        #expect(errors[0].stack == errors[1].stack?.replacing("second", with: "first").replacing(":2:", with: ":1:"))
        #expect(errors[2].key == "first")
        #expect(errors[2].stack?.split(separator: "\n").last == "outer@outer.js:1:12", "\(errors[2].stack ?? "")")
    }

    @Test func whatIsThrownNeedBeNoError() throws {
        let macro = MacroMethod(javascript: "x => { throw x }", key: "throws", engine: engine)
        macro.call("a text")
        macro.call(NeverText())
        engine.context.evaluateScript("throws({toString() { throw 1 }, get message() { throw 2 }})")
        engine.context.evaluateScript("throws(new Proxy({}, {get() { throw 3 }}))")
        let errors = heard.take()
        #expect(errors.count == 4)
        #expect(errors[0].message == "a text" && errors[0].key == "throws" && errors[0].line == nil)
    }

    private final class NeverText {}

    @Test func aPromiseThatNobodyHandlesIsTold() throws {
        let macro = MacroMethod(
            javascript: "async function() {\n  await 0;\n  missing();\n}",
            key: "later",
            engine: engine
        )
        #expect(macro.call().isObject)
        let error = try #require(heard.take().first)
        #expect(error.key == "later" && error.line == 3 && error.source == "  missing();")
    }

    @Test func aMacroWhoseTextsWereNeverRightSaysSo() throws {
        let macro = MacroMethod(javascript: "function( {", key: "never", engine: engine)
        #expect(heard.take().count == 1)
        #expect(macro.call().isUndefined)
        #expect(
            heard.take().map(\.message) == ["TypeError: the macro 'never' has no function, for its text has a mistake"]
        )
        macro.javascript = "function() { return 1 }"
        #expect(macro.call().toInt32() == 1 && macro.error == nil)
    }

    @Test func anEndlessMacroEndsWhereTheMachineHasALimit() throws {
        engine.context.virtualMachine.setExecutionTimeLimit(0.05) { _ in true }
        let macro = MacroMethod(javascript: "() => { while (true) {} }", key: "endless", engine: engine)
        #expect(macro.call().isUndefined)
        #expect(heard.take().first?.message.hasPrefix("JavaScript execution terminated") == true)
        macro.javascript = "() => 1"
        #expect(macro.call().toInt32() == 1)
    }

    @Test func noTextEndsTheProcess() throws {
        let old = MacroMethod(javascript: "() => 'old'", key: "macro", engine: engine)
        let deep = 200_000
        let texts = [
            // Each [ that is not closed doubles what JavaScriptCore 2.52 needs: where texts of others are checked, that is
            // in a process with a limit.
            String(repeating: "(", count: deep), String(repeating: "[", count: 10),
            String(repeating: "{", count: deep),
            "() => " + String(repeating: "(", count: deep) + String(repeating: ")", count: deep),
            String(repeating: "() => ", count: deep) + "1", String(repeating: ";", count: deep),
            String(repeating: "!", count: deep), String(repeating: "/*", count: deep),
            String(repeating: "`${", count: deep),
            "function() { return '" + String(repeating: "x", count: 4 << 20) + "' ",
            "\u{0}", "function() { \u{0} }", "function\u{0}() {}", "\u{2029}", "-->", "<!--", "\\u{", "#", "@",
            "((((a=>", "async", "function",
        ]
        for text in texts {
            old.javascript = text
            _ = heard.take()
            #expect(old.call().isString || old.error == nil)
        }
    }

    @Test func mutilatedTextsNeverRunOrEndTheProcess() throws { try mutilate(500) }

    @Test(.slow) func manyMutilatedTextsNeverRunOrEndTheProcess() throws { try mutilate(10_000) }

    private func mutilate(_ count: Int) throws {
        engine.context.evaluateScript("var ticks = 0; var tick = () => ++ticks")
        var random = SplitMix(state: 15)
        let seeds = [
            "function(a, b = () => 1) {\n  tick(); return `x${a}` + /[)]/.test('}'); // end\n}",
            "async (a) => { await tick(a); };",
            "({a, b: [c]}, ...d) => a ? tick() : (() => { throw 1 })()",
        ]
        let pieces = [
            "(", ")", "{", "}", "[", "]", ";", ",", "=>", "`", "'", "/", "*", "\n", "tick()", "function", "async",
            "...", "=", "\\", "\u{2028}", "🜨",
        ]
        for round in 0..<count {
            var text = Array(seeds[round % seeds.count].unicodeScalars)
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                let at = Int.random(in: 0...text.count, using: &random)
                let end = min(text.count, at + Int.random(in: 0...6, using: &random))
                text.replaceSubrange(at..<end, with: (pieces.randomElement(using: &random) ?? "").unicodeScalars)
            }
            var view = String.UnicodeScalarView()
            view.append(contentsOf: text)
            _ = try? engine.define(String(view), key: "macro")
        }
        #expect(engine.context["ticks"].toInt32() == 0)
    }

    private struct SplitMix: RandomNumberGenerator {
        var state: UInt64

        mutating func next() -> UInt64 {
            state &+= 0x9e37_79b9_7f4a_7c15
            var z = state
            z = (z ^ (z >> 30)) &* 0xbf58_476d_1ce4_e5b9
            z = (z ^ (z >> 27)) &* 0x94d0_49bb_1331_11eb
            return z ^ (z >> 31)
        }
    }
}
