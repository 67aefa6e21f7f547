import JavaScriptCore
import Testing

/// The engine of the article «Extend an iOS Application Using JavaScriptCore As A Macro Engine», with its macro as it
/// stands there.
@Suite struct MacroEngineTests {
    private final class Thing {
        var inner = 0.0 { didSet { inner = min(max(inner, 0), 10) } }
        var middle = 0.0
        var outer = 0.0
    }

    @Test func aMacroReadsAndSetsNativeValuesInOneExpression() throws {
        let context: JSContext = JSContext()
        let thing = Thing()
        context["getInnerProgress"] = JSValue(newFunctionIn: context) { () in thing.inner }
        context["setInnerProgress"] = JSValue(newFunctionIn: context) { (value: Double) in thing.inner = value }
        context["getMiddleProgress"] = JSValue(newFunctionIn: context) { () in thing.middle }
        context["setMiddleProgress"] = JSValue(newFunctionIn: context) { (value: Double) in thing.middle = value }
        context["getOuterProgress"] = JSValue(newFunctionIn: context) { () in thing.outer }
        context["setOuterProgress"] = JSValue(newFunctionIn: context) { (value: Double) in thing.outer = value }

        let javascript = """
            function() {
                var currentInner = getInnerProgress();
                var currentMiddle = getMiddleProgress();
                var currentOuter = getOuterProgress();

                setInnerProgress(currentInner + Math.random());
                setMiddleProgress(currentMiddle + Math.random());
                setOuterProgress(currentOuter + Math.random());
            }
            """
        context.evaluateScript("var random = \(javascript)")
        let macro: JSValue = context.objectForKeyedSubscript("random")
        for _ in 0..<100 { macro.call(withArguments: []) }
        #expect(context.exception == nil)
        #expect(thing.middle > 20 && thing.outer > 20)
        #expect(thing.inner == 10)
    }
}
