import JavaScriptCore
import MacroEngine
import Testing

/// What Swift puts into an engine.
@Suite struct BlockTests {
    let engine = MacroEngine()
    let heard: Heard

    init() { heard = Heard(engine) }

    /// The article's call, which says nothing of what the block takes and gives.
    private func insert<BlockType>(_ block: BlockType, _ key: String) { engine.insertBlockAsObject(block, key: key) }

    @Test func aBlockOfEverySignatureIsAFunctionUnderItsName() throws {
        engine.insertBlockAsObject({ (a: Int, b: String, c: [Double]) in "\(a)\(b)\(c)" }, key: "join")
        engine.insertBlockAsObject({ (values: [String: Any]) -> [String] in values.keys.sorted() }, key: "names")
        engine.insertBlockAsObject({ (f: JSValue) throws -> JSValue in try f.call([2]) }, key: "apply")
        engine.insertBlockAsObject(
            { (a: Int, b: Int, c: Int, d: Int, e: Int, f: Int, g: Int, h: Int, i: Int, j: Int) -> Int in
                a + b + c + d + e + f + g + h + i + j
            },
            key: "sum"
        )
        holdSignatures()
    }

    @Test func theGenericCallTakesTheSameBlocks() throws {
        insert({ (a: Int, b: String, c: [Double]) in "\(a)\(b)\(c)" }, "join")
        insert({ (values: [String: Any]) -> [String] in values.keys.sorted() }, "names")
        insert({ (f: JSValue) throws -> JSValue in try f.call([2]) }, "apply")
        insert(
            { (a: Int, b: Int, c: Int, d: Int, e: Int, f: Int, g: Int, h: Int, i: Int, j: Int) -> Int in
                a + b + c + d + e + f + g + h + i + j
            },
            "sum"
        )
        holdSignatures()
    }

    private func holdSignatures() {
        let context = engine.context
        #expect(context.evaluateScript("join(1, 'x', [2.5])").toString() == "1x[2.5]")
        #expect(context.evaluateScript("names({b: 1, a: 2}).join()").toString() == "a,b")
        #expect(context.evaluateScript("apply(x => x * 21)").toInt32() == 42)
        #expect(context.evaluateScript("sum(1, 2, 3, 4, 5, 6, 7, 8, 9, 10)").toInt32() == 55)
        #expect(context.evaluateScript("apply.name + join.length").toString() == "apply0")
        #expect(heard.take().isEmpty)
        context.evaluateScript("join(1, 'x', 5)")
        #expect(heard.take().map(\.message) == ["TypeError: argument 3 is not an array"])
    }

    @Test func whatABlockThrowsHasThePlaceInTheMacro() throws {
        struct NoLamp: Error {}
        engine.insertBlockAsObject({ () throws -> Int in throw NoLamp() }, key: "lamp")
        let macro = MacroMethod(javascript: "function() {\n  return lamp();\n}", key: "light", engine: engine)
        #expect(macro.call().isUndefined)
        let error = try #require(heard.take().first)
        #expect(error.message == "Error: NoLamp()")
        #expect(error.key == "light" && error.file == "light.js" && error.line == 2)
        #expect(error.source == "  return lamp();")
        macro.javascript = "function() { try { lamp() } catch (error) { return 'dark' } }"
        #expect(macro.call().toString() == "dark")
    }

    @Test func whatIsNoBlockIsTold() throws {
        engine.context.evaluateScript("var later = 7")
        insert({ () async -> Int in 1 }, "later")
        #expect(heard.take().map { $0.message.contains("() async -> Int") } == [true])
        insert({ @MainActor () -> Int in 1 }, "later")
        #expect(heard.take().count == 1)
        insert(12, "later")
        #expect(heard.take().map(\.message) == ["'later' must be a closure, but is not: 12"])
        #expect(engine.context["later"].toInt32() == 7)
    }

    @Test func aBlockInTheSenseOfCIsTakenWhereItsTypeIsSeen() throws {
        let block: @convention(block) (Float) -> Float = { 2 * $0 }
        engine.insertBlockAsObject(block, key: "double")
        #expect(engine.context.evaluateScript("double(4)").toInt32() == 8)
        insert(block, "hidden")
        #expect(heard.take().map { $0.message.contains("leave out @convention(block)") } == [true])
        #expect(engine.context["hidden"].isUndefined)
    }

    @Test func aFunctionOfJavaScriptMayHaveASecondName() throws {
        let double = engine.setMethod("x => 2 * x", key: "double")
        insert(double, "twice")
        #expect(engine.context.evaluateScript("twice(4)").toInt32() == 8)
        #expect(heard.take().isEmpty)
    }

    @Test(arguments: [
        "", "1st", "set x", "a-b", "a.b", "while", "let", "eval", "undefined", "__proto__", "a;alert()", "é\u{0}",
    ])
    func aNameThatIsNoneIsTold(key: String) throws {
        insert({ 1 }, key)
        engine.insertBlockAsObject({ (a: Int) in a }, key: key)
        engine.insertBlockAsObject({ (a: Int) in }, key: key)
        #expect(engine.setMethod("function() {}", key: key).isUndefined)
        let macro = MacroMethod(javascript: "function() {}", key: key, engine: engine)
        let errors = heard.take()
        #expect(errors.count == 5 && macro.error != nil)
        #expect(Set(errors.map(\.message)).count == 1)
        #expect(errors.allSatisfy { $0.key == key && $0.message.contains("'\(key)'") })
        #expect(
            engine.context.evaluateScript("Object.keys(globalThis).length + typeof undefined").toString()
                == "0undefined"
        )
    }

    @Test(arguments: [
        "a", "$", "_x1", "größe", "数", "get", "async", "of", "𝒳", "a\u{200d}b", "constructor", "toString",
    ])
    func aNameMayHaveTheLettersOfAllLanguages(key: String) throws {
        engine.insertBlockAsObject({ "block" }, key: key)
        #expect(engine.context.evaluateScript("\(key)()").toString() == "block")
        engine.setMethod("function() { return 'macro' }", key: key)
        #expect(engine.context.evaluateScript("\(key)() + \(key).name").toString() == "macro" + key)
        #expect(heard.take().isEmpty)
    }

    @Test func aConstantOfThatNameIsTold() throws {
        engine.context.evaluateScript("const fixed = 1; let loose = 2; Object.freeze(Object)")
        for key in ["fixed", "loose"] {
            engine.setMethod("function() {}", key: key)
            #expect(heard.take().map { $0.message.contains("'\(key)' cannot be set") } == [true])
        }
        #expect(engine.context.evaluateScript("fixed + loose").toInt32() == 3)
    }
}
