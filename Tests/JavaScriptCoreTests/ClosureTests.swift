import Foundation
import JavaScriptCore
import Testing

/// Closures wherever a Swift value may be: JavaScript gets functions.
@Suite struct ClosureTests {
    let context: JSContext

    init() throws { context = try #require(JSContext()) }

    @Test func closuresInADictionaryAreFunctions() throws {
        let tools: [String: Any] = [
            "add": { (a: Double, b: Double) in a + b },
            "hello": { (name: String) -> String in "hello \(name)" },
            "inner": ["list": [{ () -> Int in 42 }, 7] as [Any]],
        ]
        context.setObject(tools, forKeyedSubscript: "tools")
        #expect(context.evaluateScript("tools.add(1, 2)").toDouble() == 3)
        #expect(context.evaluateScript("tools.hello('you') + tools.hello.name").toString() == "hello youhello")
        #expect(context.evaluateScript("tools.inner.list[0]() + tools.inner.list[1]").toInt32() == 49)
        #expect(context.evaluateScript("tools.add instanceof Function").toBool())
        #expect(context.exception == nil)
    }

    @Test func closuresOfOneTypeInAnArrayAreFunctions() throws {
        let steps: [(Int) -> Int] = [{ $0 + 1 }, { $0 * 10 }]
        context.setObject(steps, forKeyedSubscript: "steps")
        #expect(context.evaluateScript("steps.reduce((x, f) => f(x), 1)").toInt32() == 20)
        let named: [String: () -> String] = ["a": { "A" }]
        context.setObject(named, forKeyedSubscript: "named")
        #expect(context.evaluateScript("named.a()").toString() == "A")
    }

    @Test func aClosureMayBeAnArgument() throws {
        let apply: JSValue = context.evaluateScript("(function (f, o) { return f(o.g(3)) })")
        let twice: (Double) -> Double = { $0 * 2 }
        let result = apply.call(withArguments: [twice, ["g": { (x: Int) in x + 1 }]])
        #expect(result?.toDouble() == 8)
        let type: JSValue = context.evaluateScript("(class { constructor(f) { this.value = f() } })")
        #expect(type.construct(withArguments: [{ () -> String in "made" }])["value"].toString() == "made")
    }

    @Test func aClosureMayBeSetAnywhere() throws {
        let object: JSValue = JSValue(newObjectIn: context)
        let one: () -> Int = { 1 }
        object.setValue(one, forProperty: "one")
        object.setValue(one, at: 5)
        object.setObject(one, atIndexedSubscript: 6)
        object["seven"] = JSValue(object: one, in: context)
        object.defineProperty("eight", descriptor: ["get": one])
        context["object"] = object
        let script = "object.one() + object[5]() + object[6]() + object.seven() + object.eight"
        #expect(context.evaluateScript(script).toInt32() == 5)
        let optional: (() -> Int)? = one
        #expect(JSValue(object: optional as Any, in: context).call(withArguments: []).toInt32() == 1)
    }

    @Test func closuresOfEveryKindAreCalled() throws {
        struct Burst: Error, CustomStringConvertible { let description = "burst" }
        var count = 0
        let kinds: [String: Any] = [
            "nothing": { count += 1 },
            "sendable": { @Sendable (x: Int) -> Int in x + 1 },
            "throwing": { () throws -> Int in throw Burst() },
            "sendableThrowing": { @Sendable (_: Int) throws -> Int in throw Burst() },
            "many": { (a: Int, b: Int, c: Int, d: Int, e: Int, f: Int, g: Int, h: Int) in
                "\(a)\(b)\(c)\(d)\(e)\(f)\(g)\(h)"
            },
            "lists": { (list: [Int]?, values: [String: Double]) in "\(list ?? []) \(values["x"] ?? 0)" },
            "value": { (value: JSValue) in value },
            "nested": { (n: Int) -> () -> Int in { n * 2 } },
        ]
        context.setObject(kinds, forKeyedSubscript: "f")
        #expect(context.evaluateScript("f.nothing() === undefined").toBool())
        #expect(count == 1)
        #expect(context.evaluateScript("f.sendable(1)").toInt32() == 2)
        #expect(context.evaluateScript("f.many(1, 2, 3, 4, 5, 6, 7, 8)").toString() == "12345678")
        #expect(context.evaluateScript("f.lists(null, {x: 1.5})").toString() == "[] 1.5")
        #expect(context.evaluateScript("var o = {}; f.value(o) === o").toBool())
        #expect(context.evaluateScript("f.nested(4)()").toInt32() == 8)
        for name in ["throwing", "sendableThrowing"] {
            let text = context.evaluateScript("try { f.\(name)(1) } catch (e) { e.message }")
            #expect(text?.toString() == "burst", "\(name)")
        }
    }

    @Test func parametersAndResultsMayBeOfAnyType() throws {
        final class Secret {}
        let secret = Secret()
        let functions: [String: Any] = [
            "kind": { (value: Any) -> String in "\(type(of: value))" },
            "isNil": { (value: Any?) -> Bool in value == nil },
            "names": { (value: [String: Any]) -> Any in value.keys.sorted() },
            "give": { () -> Secret in secret },
            "isSame": { (value: Secret) -> Bool in value === secret },
            "none": { () -> Any? in nil },
        ]
        context.setObject(functions, forKeyedSubscript: "f")
        #expect(context.evaluateScript("f.kind('x')").toString() == "String")
        #expect(context.evaluateScript("f.kind()").toString() == "NSNull")
        #expect(context.evaluateScript("f.isNil() && !f.isNil(1)").toBool())
        #expect(context.evaluateScript("f.names({b: 1, a: 2}).join()").toString() == "a,b")
        #expect(context.evaluateScript("f.isSame(f.give())").toBool())
        #expect(context.evaluateScript("f.none()").isUndefined)
        context.evaluateScript("f.isSame({})")
        #expect(context.exception.toString() == "TypeError: argument 1 is not a Secret")
    }

    @Test func aClosureThatJavaScriptCannotCallIsAnError() throws {
        let closures: [Any] = [
            { () async -> Int in 1 }, { @MainActor () -> Int in 1 }, { (x: inout Int) in x += 1 },
            { () throws(JSError) -> Int in 1 }, { (x: Int...) in x.count },
        ]
        for closure in closures {
            context.exception = nil
            context.setObject(closure, forKeyedSubscript: "f")
            #expect(context.exception?.toString().contains("cannot call a Swift closure of the type") == true)
            #expect(context["f"].isUndefined)
        }
        let function: JSValue = context.evaluateScript("(function () {})")
        #expect(throws: JSError.self) { try function.call([["inside": closures[0]]]) }
    }

    @Test func aClosureIsDroppedWithItsFunction() throws {
        final class Kept: Sendable {}
        weak var kept: Kept?
        do {
            let local = Kept()
            kept = local
            context.setObject(["f": { () -> Bool in withExtendedLifetime(local) { true } }], forKeyedSubscript: "tools")
            #expect(context.evaluateScript("tools.f()").toBool())
        }
        #expect(kept != nil)
        context.evaluateScript(
            "tools = null; (function f(n) { var o = {n: n}; return n ? f(n - 1) + o.n : 0 })(200); 0"
        )
        for _ in 0..<3 { context.virtualMachine.collectGarbage() }
        #expect(kept == nil)
    }
}
