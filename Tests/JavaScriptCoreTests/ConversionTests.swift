import Foundation
import JavaScriptCore
import Testing

@Suite struct ConversionTests {
    let context: JSContext

    init() throws { context = try #require(JSContext()) }

    @Test func nilIsUndefinedAndNSNullIsNull() throws {
        let nothing: String? = nil
        #expect(JSValue(object: nothing as Any, in: context).isUndefined)
        #expect(JSValue(object: NSNull(), in: context).isNull)
        #expect(context.evaluateScript("undefined").toObject() == nil)
        #expect(context.evaluateScript("null").toObject() is NSNull)
    }

    @Test(arguments: ["", "plain", "ä€😀", "a\u{0}b", "line\u{2028}break", "'\"\\\n"])
    func stringsKeepAllOfUnicode(text: String) throws {
        context.setObject(text, forKeyedSubscript: "text")
        #expect(context["text"].isString)
        #expect(context["text"].toString() == text)
        #expect(context.evaluateScript("text.length").toInt32() == Int32(text.utf16.count))
    }

    @Test func halfASurrogatePairBecomesTheReplacementCharacter() throws {
        #expect(context.evaluateScript("'a\\ud800b'").toString() == "a\u{fffd}b")
    }

    @Test func numbersAndBooleans() throws {
        #expect(context.evaluateScript("-1.5").toDouble() == -1.5)
        #expect(context.evaluateScript("4294967297.9").toInt32() == 1)
        #expect(context.evaluateScript("-1").toUInt32() == UInt32.max)
        #expect(context.evaluateScript("true").toBool())
        #expect(!context.evaluateScript("''").toBool())
        #expect(context.evaluateScript("1 / 0").toObject() as? Double == .infinity)
        #expect(JSValue(bool: true, in: context).isBoolean)
        #expect(JSValue(double: .nan, in: context).toDouble().isNaN)
        #expect(JSValue(int32: -7, in: context).toNumber() == -7)
        #expect(JSValue(uInt32: 7, in: context).isEqual(to: 7))
        #expect(try JSValue(double: 1e300, in: context).to(Int.self) == Int.max)
        #expect(try JSValue(double: -2.9, in: context).to(Int.self) == -2)
        #expect(try JSValue(double: .nan, in: context).to(Int.self) == 0)
    }

    @Test func dates() throws {
        let date = Date(timeIntervalSince1970: 1_234_567_890.123)
        let value: JSValue = JSValue(object: date, in: context)
        #expect(value.isDate)
        #expect(value.invokeMethod("toISOString", withArguments: []).toString() == "2009-02-13T23:31:30.123Z")
        let back = try #require(value.toDate())
        #expect(abs(back.timeIntervalSince(date)) < 0.000_5)
        #expect(value.toObject() is Date)
    }

    @Test func arraysAndDictionariesInsideEachOther() throws {
        context.setObject(["list": [1, "two", true, NSNull()], "deep": ["x": 1.5]], forKeyedSubscript: "value")
        #expect(context.evaluateScript("JSON.stringify(value.list)").toString() == #"[1,"two",true,null]"#)
        #expect(context.evaluateScript("value.deep.x").toDouble() == 1.5)

        let value = try #require(context.evaluateScript("({a: 1, b: ['x', {c: null}], d: undefined})").toDictionary())
        #expect(value["a"] as? Int == 1)
        let items = try #require(value["b"] as? [Any])
        #expect(items.first as? String == "x")
        #expect((items.last as? [AnyHashable: Any])?["c"] is NSNull)
    }

    @Test func anObjectThatHoldsItselfIsReadOnce() throws {
        let value = context.evaluateScript("var a = {n: 1}; a.self = a; a").toDictionary()
        #expect(value?["n"] as? Int == 1)
        #expect((value?["self"] as? [AnyHashable: Any])?.isEmpty == true)
    }

    @Test func whatIsNoArrayIsAnError() throws {
        #expect(context.evaluateScript("5").toArray() == nil)
        #expect(context.exception.toString().contains("not an array"))
        #expect(context.evaluateScript("undefined").toArray() == nil)
    }

    @Test func typedReading() throws {
        #expect(try context.evaluateScript("[1, 2.5]").to([Double].self) == [1, 2.5])
        #expect(try context.evaluateScript("({a: [1]})").to([String: [Int]].self) == ["a": [1]])
        #expect(try context.evaluateScript("null").to(String?.self) == nil)
        #expect(throws: JSConversionError.self) { try context.evaluateScript("1").to([Int].self) }
    }

    @Test func otherKinds() throws {
        #expect(JSValue(newObjectIn: context).isObject)
        #expect(JSValue(newArrayIn: context).isArray)
        #expect(JSValue(newSymbolFromDescription: "s", in: context).isSymbol)
        #expect(context.evaluateScript("10n").isBigInt)
        let pattern: JSValue = JSValue(newRegularExpressionFromPattern: "^a+$", flags: "i", in: context)
        #expect(pattern.invokeMethod("test", withArguments: ["AAA"]).toBool())
        let error: JSValue = JSValue(newErrorFromMessage: "gone", in: context)
        #expect(error.isInstance(of: context["Error"]))
        #expect(error["message"].toString() == "gone")
    }

    @Test func comparing() throws {
        let one: JSValue = context.evaluateScript("1")
        #expect(one.isEqual(to: 1))
        #expect(!one.isEqual(to: "1"))
        #expect(one.isEqualWithTypeCoercion(to: "1"))
    }

    @Test func promises() throws {
        let promise: JSValue = JSValue(newPromiseIn: context) { resolve, _ in resolve?.call(withArguments: [42]) }
        context.setObject(promise, forKeyedSubscript: "promise")
        context.evaluateScript("var got; promise.then(v => { got = v })")
        #expect(context["got"].toInt32() == 42)
        let rejected: JSValue = JSValue(newPromiseRejectedWithReason: "no", in: context)
        context.setObject(rejected, forKeyedSubscript: "rejected")
        context.evaluateScript("var why; rejected.catch(v => { why = v })")
        #expect(context["why"].toString() == "no")
        let resolved: JSValue = JSValue(newPromiseResolvedWithResult: ["a": 1], in: context)
        #expect(resolved.isInstance(of: context["Promise"]))
    }

    @Test func properties() throws {
        let object: JSValue = context.evaluateScript("({a: 1, get bad() { throw new Error('no') }})")
        #expect(object.hasProperty("a"))
        #expect(object.forProperty("a").toInt32() == 1)
        object.setValue("x", forProperty: "b")
        #expect(object["b"].toString() == "x")
        #expect(object.deleteProperty("b"))
        #expect(object["b"].isUndefined)
        #expect(object["bad"].isUndefined)
        #expect(context.exception.toString() == "Error: no")
        object.defineProperty("fixed", descriptor: ["value": 3, "writable": false])
        context.setObject(object, forKeyedSubscript: "o")
        #expect(context.evaluateScript("o.fixed = 4; o.fixed").toInt32() == 3)
        let list: JSValue = context.evaluateScript("[1, 2]")
        list.setValue(9, at: 1)
        #expect(list.atIndex(1).toInt32() == 9)
        #expect(list[7].isUndefined)
    }
}

extension ConversionTests {
    @Test func numbersOfFoundationKeepTheirKind() throws {
        #expect(JSValue(object: NSNumber(value: true), in: context).isBoolean)
        #expect(JSValue(object: NSNumber(value: 1), in: context).isNumber)
        #expect(JSValue(object: Float(1.5), in: context).toDouble() == 1.5)
        #expect(JSValue(object: [Int8(-3)], in: context)[0].toInt32() == -3)
        let deep: Any? = Optional<Any>("x" as Any)
        #expect(JSValue(object: deep as Any, in: context).toString() == "x")
    }

    @Test func argumentsLargerThanTheStackTakesAreKeptToo() throws {
        let sum: JSValue = context.evaluateScript(
            "(function () { return Array.from(arguments, a => a.x).reduce((a, b) => a + b, 0) })"
        )
        let arguments = (0..<20_000).map { ["x": $0, "pad": String(repeating: "y", count: 50)] as [String: Any] }
        #expect(sum.call(withArguments: arguments).toDouble() == 199_990_000)
    }
}
