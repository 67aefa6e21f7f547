/// A Swift object that macros may use: it puts its own functions into an engine.
public protocol MacroEngineSupport {
    /// Called by ``MacroEngine/addObject(_:)``. Registers what macros may use of this object, with
    /// `engine.insertBlockAsObject(…, key: …)`.
    func addMacroSupport(_ engine: MacroEngine)
}
