import JavaScriptCore
import Testing

/// How the library encodes values is not part of its interface.
@Suite("The encoding of values", .serialized) struct EncodingTests {
    @Test func anotherEncodingIsFoundOut() throws {
        let context = try #require(JSContext())
        #expect(context.hasEncoding(ValueEncoding.mask))
        for mask: UInt in [0, 1, 2, 8, 0xfffe << 48, 0xffff << 32, .max] where mask != ValueEncoding.mask {
            #expect(!context.hasEncoding(mask), "\(String(mask, radix: 16))")
        }
    }

    @Test func valuesLiveAndAreWhatTheyAreWithoutIt() throws {
        ValueEncoding.distrust(true)
        defer { ValueEncoding.distrust(false) }
        let context = try #require(JSContext())
        let machine = try #require(context.virtualMachine)
        let texts = [
            "1", "0.5", "true", "null", "undefined", "'text'", "({a: [1]})", "Symbol('s')", "10n ** 30n", "() => 1",
        ]
        let values = texts.map { context.evaluateScript($0) }
        for _ in 0..<20 {
            context.evaluateScript("for (let i = 0; i < 1e4; i++) ({a: [i, 'x' + i]})")
            machine.collectGarbage()
        }
        #expect(values.map { $0?.isObject } == [false, false, false, false, false, false, true, false, false, true])
        #expect(values[0]?.toInt32() == 1 && values[1]?.toDouble() == 0.5 && values[2]?.toBool() == true)
        #expect(values[3]?.isNull == true && values[4]?.isUndefined == true && values[5]?.toString() == "text")
        #expect(values[6]?["a"][0].toInt32() == 1 && values[8]?.toString() == "1" + String(repeating: "0", count: 30))
        #expect(values[9]?.call(withArguments: []).toInt32() == 1)
    }
}
