import Foundation
import JavaScriptCore
import Synchronization
import Testing

/// Values that throw, lie or change while they are looked at.
@Suite(.timeLimit(.minutes(5))) struct HostileValueTests {
    let context: JSContext

    init() throws { context = try #require(JSContext()) }

    private static let throwing = """
        new Proxy({}, {
            ownKeys() { throw new Error('keys') }, get() { throw new Error('get') }, has() { throw new Error('has') },
            set() { throw new Error('set') }, deleteProperty() { throw new Error('delete') },
            defineProperty() { throw new Error('define') }, getPrototypeOf() { throw new Error('prototype') }
        })
        """

    @Test func aProxyThatThrowsIsAnErrorWhereItIsLookedAt() throws {
        let proxy: JSValue = context.evaluateScript(Self.throwing)
        #expect(proxy.toDictionary() == nil)
        #expect(context.exception.toString() == "Error: keys")
        #expect(proxy.propertyNames.isEmpty)
        #expect(proxy["x"].isUndefined)
        #expect(context.exception.toString() == "Error: get")
        #expect(!proxy.hasProperty("x") && !proxy.deleteProperty("x") && !proxy.isInstance(of: context["Object"]))
        #expect(throws: JSError.self) { try proxy.to([String: Int].self) }
        #expect(proxy.description == "a value without a text")
    }

    @Test func whatThrewInAProxyIsNotThrownAgainByTheNextScript() throws {
        let proxy: JSValue = context.evaluateScript(Self.throwing)
        _ = proxy.propertyNames
        #expect(throws: Never.self) { try context.evaluate("1 + 1") }
    }

    @Test func aGetterThatThrowsIsNullAndAnError() throws {
        let value = context.evaluateScript("({a: 1, get b() { throw new Error('no') }})").toDictionary()
        #expect(value?["a"] as? Int == 1)
        #expect(value?["b"] is NSNull)
        #expect(context.exception.toString() == "Error: no")
    }

    @Test func anErrorWhoseTextChangesIsStillAnError() throws {
        let script = "var n = 0; throw {get message() { return n++ ? Symbol('s') : 'first' }}"
        let error = #expect(throws: JSError.self) { try context.evaluate(script) }
        #expect(error?.message == "first")
    }

    @Test func anErrorThatThrowsItselfIsToldOnce() throws {
        let count = Mutex(0)
        context.exceptionHandler = { _, _ in count.withLock { $0 += 1 } }
        let throwing = ["name", "sourceURL", "line", "column", "stack"].map { "get \($0)() { throw e }" }
        context.evaluateScript("var e = {message: 'm', \(throwing.joined(separator: ", "))}; throw e")
        #expect(count.withLock { $0 } == 1)
    }

    @Test(arguments: ["5", "undefined", "() => { throw 1 }", "function () { return 1 }"])
    func aTypeErrorIsOneAlsoWhereAScriptReplacedTheName(replacement: String) throws {
        context["f"] = JSValue(newFunctionIn: context) { (list: [Int]) in list.count }
        context.evaluateScript("var Original = TypeError; globalThis.TypeError = \(replacement)")
        let text = context.evaluateScript("try { f(1) } catch (e) { (e instanceof Original) + ' ' + e.message }")
        #expect(text?.toString() == "true argument 1 is not an array")
        context.evaluateScript("5").call(withArguments: [])
        #expect(context.exception.toString() == "TypeError: 5 is not a function")
    }

    @Test(arguments: ["new Date(NaN)", "NaN", "1e300", "-Infinity", "'today'", "Symbol()", "8640000000000001"])
    func whatIsNoTimeIsNoDate(script: String) throws {
        let value: JSValue = context.evaluateScript(script)
        // Foundation ends the process where such a date is described.
        let date: Date? = value.toDate()
        #expect(date.map { "\($0)" } == nil)
        #expect(throws: (any Error).self) { try value.to(Date.self) }
        #expect(!(value.toObject() is Date))
    }

    @Test func datesAtTheEndsOfJavaScriptsTimeAreDates() throws {
        #expect(context.evaluateScript("new Date(8.64e15)").toDate() == Date(timeIntervalSince1970: 8.64e12))
        #expect(try context.evaluateScript("-8.64e15").to(Date.self) == Date(timeIntervalSince1970: -8.64e12))
        let invalid: JSValue = JSValue(object: Date(timeIntervalSince1970: .nan), in: context)
        #expect(invalid.description == "Invalid Date")
    }

    @Test(arguments: ["NaN", "Infinity", "-Infinity", "1e300", "10n", "Symbol()", "({valueOf() { throw 1 }})", "null"])
    func noNumberIsTooLarge(script: String) throws {
        let value: JSValue = context.evaluateScript(script)
        #expect(value.toNumber().doubleValue == value.toDouble() || value.toDouble().isNaN)
        #expect([-1, 0, 10].contains(value.toInt32()) && [0, 10, .max].contains(value.toUInt32()))
        let numbers = [
            try? Int64(value.to(Int8.self)), try? Int64(value.to(Int32.self)), try? value.to(Int64.self),
        ]
        let unsigned = [try? UInt64(value.to(UInt8.self)), try? value.to(UInt64.self)]
        // What is no number is an error in every type, or in none.
        #expect(Set(numbers.map { $0 == nil } + unsigned.map { $0 == nil }).count == 1)
        #expect(context.evaluateScript("1 + 1").toInt32() == 2)
    }

    @Test func symbolsAndBigIntsAreValuesOfTheirOwn() throws {
        let symbol: JSValue = context.evaluateScript("Symbol('s')")
        #expect(symbol.toString() == nil)
        #expect((symbol.toObject() as? JSValue) === symbol)
        let object: JSValue = JSValue(newObjectIn: context)
        object.setObject(1, forKeyedSubscript: symbol)
        #expect(object.objectForKeyedSubscript(symbol).toInt32() == 1)
        #expect(object.hasProperty(symbol) && object.deleteProperty(symbol) && !object.hasProperty(symbol))
        #expect((context.evaluateScript("2n ** 80n").toObject() as? JSValue)?.toString() == "1208925819614629174706176")
    }

    @Test func anIndexOutOfRangeIsAPropertyLikeAnyOther() throws {
        let list: JSValue = context.evaluateScript("[1, 2]")
        #expect(list[-1].isUndefined)
        #expect(list[.max].isUndefined && list[.min].isUndefined)
        list[-1] = JSValue(int32: 7, in: context)
        list.setValue(8, at: 1 << 40)
        #expect(list["-1"].toInt32() == 7 && list["1099511627776"].toInt32() == 8)
        #expect(list["length"].toInt32() == 2 && list[0].toInt32() == 1)
    }

    @Test func textThatIsNotUTF8IsRepaired() throws {
        let text = JSText(utf8: Array("a".utf8) + [0xff] + Array("b".utf8))
        context["text"] = text.toJSValue(in: context)
        #expect(context["text"].toString() == "a\u{fffd}b")
        #expect(try context.evaluateScript("'\\udc00\\ud800'").to(JSText.self).utf8 == Array("\u{fffd}\u{fffd}".utf8))
    }

    @Test func halvesOfSurrogatePairsMayBeNames() throws {
        let value = context.evaluateScript("({'\\ud800': 1, '\\udc00': 2, '': 3})")
        #expect(value?.toDictionary().count == 2)
        #expect(try value?.to([String: Int].self)[""] == 3)
    }
}
