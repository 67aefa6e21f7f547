internal import JSON
internal import JavaScriptCore
internal import QuickConnect

/// What the macros' part of the runtime asks of Swift.
extension ScriptRuntime {
    /// Makes this the runtime of macros.
    func addMacros(_ natives: any MacroNatives) throws(JSError) {
        let text = String(decoding: PackageResources.macros_js, as: UTF8.self)
        let functions = macroFunctions(natives)
        try context.evaluate(text, sourceURL: "quickconnect:macros.js").call([host, functions])
    }

    /// Gives the macros that have changed, as `MacroTexts` tells them.
    func put(_ changes: JSONValue) throws(JSError) {
        try host["putMacros"].callAsFunction(JSText(utf8: Array(changes.text.utf8)))
    }

    /// Tells of a call to a macro's handler that nobody waits for any more.
    func late(_ handler: String, _ sentence: String) throws(JSError) { try host["late"].call([handler, sentence]) }

    private func macroFunctions(_ natives: any MacroNatives) -> JSValue {
        let object: JSValue = JSValue(newObjectIn: context)
        object.setObject(
            { [unowned context] (script: String, text: String) in
                MacroSyntax(context: context).mistake(in: script, of: text)?.text ?? ""
            },
            forKeyedSubscript: "parse"
        )
        object.setObject(
            { [unowned context] (text: String, path: String) in
                try context.evaluate("(\(text)\n)", sourceURL: path)
            },
            forKeyedSubscript: "evaluate"
        )
        object.setObject({ (name: String) in MacroName.isValid(name) }, forKeyedSubscript: "isMacroName")
        object.setObject({ (names: String) in Self.accessors(names) }, forKeyedSubscript: "accessors")
        object.setObject({ Self.milliseconds }, forKeyedSubscript: "milliseconds")
        object.setObject({ [unowned natives] (name: String) in natives.runs(name) }, forKeyedSubscript: "runs")
        return object
    }

    /// `[[value, what its accessors end with or null], …]` of the names of values.
    private static func accessors(_ names: String) -> String {
        let names = (try? JSONParser.parse(names))?.arrayValue?.compactMap(\.stringValue) ?? []
        let suffixes = ValueAccessors.suffixes(of: names)
        return JSONValue.array(suffixes.map { [.string($0.name), $0.suffix.map(JSONValue.string) ?? .null] }).text
    }

    /// Since some moment or other.
    private static var milliseconds: Double {
        origin.duration(to: .now) / .milliseconds(1)
    }

    private static let origin = ContinuousClock.now
}

/// What the macros' part of the runtime tells of itself.
protocol MacroNatives: AnyObject {
    /// A macro begins to run.
    func runs(_ macro: String)
}
