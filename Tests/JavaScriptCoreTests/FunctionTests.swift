import JavaScriptCore
import Testing

@Suite struct FunctionTests {
    let context: JSContext

    init() throws { context = try #require(JSContext()) }

    @Test func aSwiftClosureIsAFunction() throws {
        context["add"] = JSValue(newFunctionIn: context, name: "add") { (a: Double, b: Double) in a + b }
        #expect(context.evaluateScript("add(1, 2)").toDouble() == 3)
        #expect(context.evaluateScript("typeof add").toString() == "function")
        #expect(context.evaluateScript("add instanceof Function").toBool())
        #expect(context.evaluateScript("add.call(null, 3, 4)").toDouble() == 7)
        #expect(context.evaluateScript("add.bind(null, 1)(1)").toDouble() == 2)
        #expect(context.evaluateScript("add.name").toString() == "add")
        #expect(context.evaluateScript("isNaN(add(1))").toBool())
    }

    @Test func closuresAreSetAsTheyAre() throws {
        var level = 1.5
        func twice(_ x: Double) -> Double { x * 2 }
        context.setObject({ (x: Double) in level = x }, forKeyedSubscript: "setLevel")
        context.setObject({ () in level }, forKeyedSubscript: "getLevel")
        context.setObject(twice, forKeyedSubscript: "twice")
        let object: JSValue = JSValue(newObjectIn: context)
        object.setObject({ (a: Int, b: String) in "\(a)\(b)" }, forKeyedSubscript: "join")
        context.setObject(object, forKeyedSubscript: "tools")
        #expect(context.evaluateScript("setLevel(twice(getLevel())); getLevel()").toDouble() == 3)
        #expect(context.evaluateScript("tools.join(1, 'x') + twice.name").toString() == "1xtwice")
        #expect(context.exception == nil)
    }

    @Test func argumentsOfManyTypes() throws {
        context["f"] = JSValue(newFunctionIn: context) { (a: Int, b: String, c: Bool?, d: [Int], e: [String: Double]) in
            "\(a) \(b) \(c.map { "\($0)" } ?? "nil") \(d) \(e["x"] ?? 0)"
        }
        #expect(context.evaluateScript("f(1.9, 'é', null, [1, 2], {x: 2.5})").toString() == "1 é nil [1, 2] 2.5")
        context.evaluateScript("f(1, 2, true, 'no list', {})")
        #expect(context.exception.toString() == "TypeError: argument 4 is not an array")
    }

    @Test func aValueGoesThroughAsItIs() throws {
        context["same"] = JSValue(newFunctionIn: context) { (value: JSValue) in value }
        #expect(context.evaluateScript("var o = {}; same(o) === o").toBool())
        #expect(context.evaluateScript("same()").isUndefined)
    }

    @Test func whatSwiftThrowsIsAnException() throws {
        struct Broken: Error, CustomStringConvertible { let description = "the lamp is broken" }
        context["f"] = JSValue(newFunctionIn: context) { () throws in throw Broken() }
        #expect(context.evaluateScript("try { f() } catch (e) { e.message }").toString() == "the lamp is broken")
        let error = #expect(throws: JSError.self) { try context.evaluate("\n\nf()", sourceURL: "lamp.js") }
        #expect(error?.message == "the lamp is broken")
        #expect(error?.line == 3)
    }

    @Test func whatJavaScriptThrewGoesThroughSwiftUnchanged() throws {
        context["run"] = JSValue(newFunctionIn: context) { (f: JSValue) in try f.call([]) }
        #expect(
            context.evaluateScript("var e = {}; try { run(() => { throw e }) } catch (x) { x === e }").toBool()
        )
    }

    @Test func theCallInProgressIsKnown() throws {
        context["f"] = JSValue(newFunctionIn: context) { () in
            let arguments = JSContext.currentArguments() ?? []
            return "\(arguments.count) \(JSContext.currentThis()["tag"]) \(JSContext.current() != nil)"
        }
        #expect(context.evaluateScript("({tag: 'me', f: f}).f(1, 2, 3)").toString() == "3 me true")
        #expect(JSContext.current() == nil)
    }

    @Test func callingJavaScript() throws {
        let function: JSValue = context.evaluateScript("(function (a, b) { return a + b })")
        #expect(function.call(withArguments: [1, 2]).toInt32() == 3)
        #expect(function.call(withArguments: ["a", "b"]).toString() == "ab")
        #expect(try function.callAsFunction(1.5, 2).toDouble() == 3.5)
        #expect(try function.callAsFunction("a", "b").toString() == "ab")
        let type: JSValue = context.evaluateScript(
            "(class { constructor(x) { this.x = x } twice() { return this.x * 2 } })"
        )
        let object: JSValue = type.construct(withArguments: [21])
        #expect(object.invokeMethod("twice", withArguments: []).toInt32() == 42)
        #expect(object.isInstance(of: type))
    }

    @Test func callingWhatIsNoFunction() throws {
        #expect(context.evaluateScript("5").call(withArguments: []).isUndefined)
        #expect(context.exception.toString() == "TypeError: 5 is not a function")
        #expect(throws: JSError.self) { try context.evaluateScript("({})").call([]) }
        context.exception = nil
        context.evaluateScript("({})").invokeMethod("nope", withArguments: [])
        #expect(context.exception.toString().contains("is not a function"))
    }

    @Test func aFunctionOutlivesItsContextsObject() throws {
        let machine = JSVirtualMachine()
        let other = try #require(JSContext(virtualMachine: machine))
        do {
            let home = try #require(JSContext(virtualMachine: machine))
            let function = JSValue(newFunctionIn: home) { (x: JSValue) in x["length"].toDouble() + 1 }
            other.globalObject.setObject(function, forKeyedSubscript: "f")
        }
        #expect(other.evaluateScript("f([1, 2])").toDouble() == 3)
    }

    @Test func deepRecursionThroughBothLanguagesIsAnError() throws {
        context["swift"] = JSValue(newFunctionIn: context) { (f: JSValue) in try f.call([]) }
        context.evaluateScript("function down() { swift(down) } down()", withSourceURL: "deep.js")
        #expect(context.exception.toString().contains("call stack"))
        #expect(context.evaluateScript("1 + 1").toInt32() == 2)
    }
}
