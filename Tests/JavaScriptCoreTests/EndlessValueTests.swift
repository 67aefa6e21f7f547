import Foundation
import JavaScriptCore
import TestRig
import Testing

/// Values that a script can make and that nobody could read to their end.
@Suite(.timeLimit(.minutes(5))) struct EndlessValueTests {
    let context: JSContext

    init() throws { context = try #require(JSContext()) }

    @Test func aValueThatIsNestedTooDeepIsAnError() throws {
        let value = try #require(context.evaluateScript("var a = []; for (let i = 0; i < 100000; i++) a = [a]; a"))
        #expect(value.toObject() == nil)
        #expect(context.exception.toString().contains("nested deeper than 512 levels"))
        #expect(value.toArray() == nil)
        let object = try #require(
            context.evaluateScript("var o = {}; for (let i = 0; i < 100000; i++) o = {o: o}; o")
        )
        #expect(object.toDictionary() == nil)
    }

    @Test func aValueOfTheDeepestKindIsRead() throws {
        let value = context.evaluateScript("var a = 'deep'; for (let i = 0; i < 512; i++) a = [a]; a")
        var item = value?.toObject()
        for _ in 0..<512 { item = (item as? [Any])?.first }
        #expect(item as? String == "deep")
    }

    @Test func aDeepValueIsReadAlsoWhereScriptsHaveFilledTheStack() throws {
        var depths: [Int] = []
        let same = { (value: JSValue) -> Any? in
            let object = value.toObject()
            var (item, depth) = (object, 0)
            while let items = item as? [Any] { (item, depth) = (items.first, depth + 1) }
            depths.append(depth)
            return object
        }
        context.setObject(same as Any, forKeyedSubscript: "same")
        context.evaluateScript(
            """
            var a = 'deep', tries = 20; for (let i = 0; i < 511; i++) a = [a]
            function down() { try { down() } catch { if (tries-- > 0) same([a]) } }
            down()
            """
        )
        #expect(depths.contains(512))
        #expect(context.evaluateScript("1 + 1").toInt32() == 2)
    }

    @Test(arguments: [
        "function make() { return {get next() { return make() }} } make()",
        "var h = {get: () => new Proxy({a: 1}, h)}; new Proxy({a: 1}, h)",
        "function item() { let a = []; Object.defineProperty(a, 0, {get: item, enumerable: true}); return a } item()",
    ])
    func aValueThatGrowsAsItIsReadEnds(script: String) throws {
        let value = try #require(context.evaluateScript(script))
        _ = value.toObject()
        #expect(context.evaluateScript("1 + 1").toInt32() == 2)
    }

    @Test(.slow) func aValueThatBranchesAtEachStepIsAnError() throws {
        let script =
            "function make(n) { return n ? {get a() { return make(n - 1) }, get b() { return make(n - 1) }} : 1 }"
        let value: JSValue = context.evaluateScript("\(script); make(60)")
        #expect(value.toObject() == nil)
        #expect(context.exception.toString().contains("more than 1048576 items"))
    }

    @Test func whatIsHeldInManyPlacesIsReadOnce() throws {
        let value = context.evaluateScript("var a = ['leaf']; for (let i = 0; i < 60; i++) a = [a, a]; a")
        var item = value?.toObject()
        for _ in 0..<61 { item = (item as? [Any])?.last }
        #expect(item as? String == "leaf")
        #expect(context.exception == nil)
    }

    @Test func anArrayThatHoldsItselfIsReadOnce() throws {
        let items = context.evaluateScript("var a = [1]; a.push(a, {again: a}); a").toArray()
        #expect(items?.first as? Int == 1)
        #expect((items?[1] as? [Any])?.isEmpty == true)
        #expect(((items?[2] as? [AnyHashable: Any])?["again"] as? [Any])?.isEmpty == true)
    }

    @Test(arguments: ["[]", "[1, 2]", "Array.from('abc')"])
    func aSparseArrayIsAnError(array: String) throws {
        let value: JSValue = context.evaluateScript("var a = \(array); a.length = 4294967295; a")
        #expect(value.toObject() == nil)
        #expect(context.exception.toString().contains("more than 1048576 items"))
        #expect(value.toArray() == nil)
        #expect(throws: JSConversionError.self) { try value.to([Int].self) }
        context["sum"] = JSValue(newFunctionIn: context) { (numbers: [Double?]) in numbers.count }
        context.evaluateScript("sum(a)")
        #expect(context.exception.toString() == "TypeError: argument 1 is not an array of at most 1048576 items")
    }

    @Test func whatOnlyHasALengthIsReadAsAnObject() throws {
        let value: JSValue = context.evaluateScript("({length: 4e9, 0: 'x'})")
        #expect(value.toDictionary()["length"] as? Double == 4e9)
        #expect(value.toArray() == nil)
        #expect(throws: JSConversionError.self) { try value.to([Int].self) }
    }

    @Test(arguments: ["new Uint8Array(3e8)", "new String('x'.repeat(1 << 28))"])
    func anObjectWithMillionsOfIndexesIsAnError(script: String) throws {
        let value: JSValue = context.evaluateScript(script)
        #expect(value.toObject() == nil)
        #expect(context.exception.toString().contains("more than 1048576 items"))
        #expect(value.propertyNames.isEmpty)
        #expect(throws: (any Error).self) { try value.to([String: Int].self) }
    }

    @Test func arraysOfTheSameArrayAreAnErrorWhereTheyAreCopied() throws {
        let value: JSValue = context.evaluateScript("Array(100000).fill(Array(100000).fill(0))")
        #expect(throws: JSConversionError.self) { try value.to([[Int]].self) }
        #expect(value.toArray().count == 100_000)
    }

    /// A type that reads itself from the inside of a value.
    private indirect enum Tree: JSConvertible {
        case leaf
        case node([Tree])

        func toJSValue(in context: JSContext) -> JSValue { JSValue(newObjectIn: context) }

        static func fromJSValue(_ value: JSValue) throws -> Tree {
            value.isArray ? .node(try value.to([Tree].self)) : .leaf
        }
    }

    @Test func aTypeThatReadsItselfEndsAtACycle() throws {
        let value: JSValue = context.evaluateScript("var a = []; a.push(a); a")
        #expect(throws: JSConversionError.self) { try value.to(Tree.self) }
        guard case .node(let items) = try context.evaluateScript("[[], 1]").to(Tree.self) else {
            Issue.record("no node")
            return
        }
        #expect(items.count == 2)
    }
}
