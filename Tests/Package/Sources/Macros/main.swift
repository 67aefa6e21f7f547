import MacroEngine

/// What a macro of somebody else's program may use.
struct Numbers: MacroEngineSupport {
    func addMacroSupport(_ engine: MacroEngine) {
        engine.insertBlockAsObject({ (factor: Int) in 6 * factor }, key: "times")
    }
}

MacroEngine.sharedInstance.addObject(Numbers())
let macro = MacroMethod(javascript: "function(x) { return times(x) }", key: "answer")
macro.javascript = "function(x) { return times("
macro.javascript = "function(x) { return times(x + 1) }"
print(macro.call(6).toInt32())
