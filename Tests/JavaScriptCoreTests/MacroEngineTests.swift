import JavaScriptCore
import Testing

/// The engine of the article «Extend an iOS Application Using JavaScriptCore As A Macro Engine», with its macro as it
/// stands there.
@Suite struct MacroEngineTests {
    private protocol MacroEngineSupport {
        func addMacroSupport(engine: MacroEngine)
    }

    private final class MacroEngine {
        let context: JSContext = JSContext()

        func addObject(object: any MacroEngineSupport) { object.addMacroSupport(engine: self) }

        /// The article's generic call, which says nothing of what the block takes and gives.
        func insertBlockAsObject<BlockType>(_ block: BlockType, key: String) {
            context.setObject(block, forKeyedSubscript: key)
        }

        func setMethod(javascript: String, key: String) -> JSValue! {
            context.evaluateScript("var \(key) = \(javascript)")
            return context.objectForKeyedSubscript(key)
        }
    }

    private final class Thing: MacroEngineSupport {
        var inner: Float = 0 { didSet { inner = min(max(inner, 0), 10) } }
        var middle: Float = 0
        var outer: Float = 0

        func addMacroSupport(engine: MacroEngine) {
            let setInnerProgress: (Float) -> Void = { self.inner = $0 }
            let getInnerProgress: () -> Float = { self.inner }
            engine.insertBlockAsObject(setInnerProgress, key: "setInnerProgress")
            engine.insertBlockAsObject(getInnerProgress, key: "getInnerProgress")
            engine.insertBlockAsObject({ (value: Float) in self.middle = value }, key: "setMiddleProgress")
            engine.insertBlockAsObject({ self.middle }, key: "getMiddleProgress")
            engine.insertBlockAsObject(setOuter, key: "setOuterProgress")
            engine.insertBlockAsObject({ self.outer }, key: "getOuterProgress")
        }

        private func setOuter(_ value: Float) { outer = value }
    }

    private static let macro = """
        function() {
            var currentInner = getInnerProgress();
            var currentMiddle = getMiddleProgress();
            var currentOuter = getOuterProgress();

            setInnerProgress(currentInner + Math.random());
            setMiddleProgress(currentMiddle + Math.random());
            setOuterProgress(currentOuter + Math.random());
        }
        """

    @Test func aMacroReadsAndSetsNativeValuesInOneExpression() throws {
        let (engine, thing) = (MacroEngine(), Thing())
        engine.addObject(object: thing)
        let macro: JSValue = engine.setMethod(javascript: Self.macro, key: "random")
        for _ in 0..<100 { macro.call(withArguments: []) }
        #expect(engine.context.exception == nil)
        #expect(thing.middle > 20 && thing.outer > 20)
        #expect(thing.inner == 10)
    }

    @Test func aBlockOfEverySignatureIsAFunctionUnderItsName() throws {
        let engine = MacroEngine()
        engine.insertBlockAsObject({ (a: Int, b: String, c: [Double]) in "\(a)\(b)\(c)" }, key: "join")
        engine.insertBlockAsObject({ (values: [String: Any]) -> [String] in values.keys.sorted() }, key: "names")
        engine.insertBlockAsObject({ (f: JSValue) throws -> JSValue in try f.call([2]) }, key: "apply")
        engine.insertBlockAsObject(
            { (a: Int, b: Int, c: Int, d: Int, e: Int, f: Int, g: Int, h: Int, i: Int, j: Int) -> Int in
                a + b + c + d + e + f + g + h + i + j
            },
            key: "sum"
        )
        #expect(engine.context.evaluateScript("join(1, 'x', [2.5])").toString() == "1x[2.5]")
        #expect(engine.context.evaluateScript("names({b: 1, a: 2}).join()").toString() == "a,b")
        #expect(engine.context.evaluateScript("apply(x => x * 21)").toInt32() == 42)
        #expect(engine.context.evaluateScript("sum(1, 2, 3, 4, 5, 6, 7, 8, 9, 10)").toInt32() == 55)
        #expect(engine.context.evaluateScript("apply.name + join.length").toString() == "apply0")
        engine.context.evaluateScript("join(1, 'x', 5)")
        #expect(engine.context.exception.toString() == "TypeError: argument 3 is no array")
    }

    @Test func aBlockThatJavaScriptCannotCallIsToldToTheHandler() throws {
        let engine = MacroEngine()
        engine.insertBlockAsObject({ () async -> Int in 1 }, key: "later")
        #expect(engine.context["later"].isUndefined)
        #expect(engine.context.exception.toString().contains("() async -> Int"))
    }
}
