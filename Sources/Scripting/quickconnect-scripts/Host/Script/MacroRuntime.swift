internal import JSON
internal import JavaScriptCore
internal import MacroEngine
internal import QuickConnect

/// The macros' part of the runtime: the library's engine in the script's context, and the functions that
/// `Runtime/macros.js` uses.
///
/// `MacroEngine` checks macros' texts, makes functions from them and locates their errors; the JavaScript handles what
/// concerns the daemon: commands, handlers, events.
final class MacroRuntime {
    private let engine: MacroEngine
    private let host: JSValue

    init(_ runtime: ScriptRuntime, _ natives: ScriptRunner) throws(JSError) {
        host = runtime.host
        engine = MacroEngine(context: runtime.context, protectsNames: true)
        let text = String(decoding: PackageResources.macros_js, as: UTF8.self)
        let functions = Self.functions(engine, natives)
        try runtime.context.evaluate(text, sourceURL: "quickconnect:macros.js").call([host, functions])
        let lock = String(decoding: PackageResources.intrinsics_js, as: UTF8.self)
        try runtime.context.evaluate(lock, sourceURL: "quickconnect:intrinsics.js").call([])
    }

    // MARK: Called between turns, each a turn of its own

    /// Applies the change of a macro. The globals stay.
    func take(_ change: MacroChange) throws(JSError) {
        switch change {
        case .text(let text, let name, let path, let bytes): try host["putMacro"].call([name, path, text, bytes])
        case .mistake(let mistake, let name, let path):
            let value = JSValue(newFromJSON: JSONValue.object(mistake).text, in: host.context)
            try host["refuseMacro"].call([name, path, value as Any])
        case .removed(let name): try host["removeMacro"].call([name])
        }
    }

    /// Reports that nobody waits for a call to a macro's handler any more.
    func late(_ handler: String, _ sentence: String) throws(JSError) { try host["late"].call([handler, sentence]) }

    // MARK: What the JavaScript asks

    private static func functions(_ engine: MacroEngine, _ natives: ScriptRunner) -> JSValue {
        let object: JSValue = JSValue(newObjectIn: engine.context)
        addTexts(object, engine)
        addErrors(object, engine)
        object.setObject(
            { (name: String, names: [String]) in NearestNames.question(name, among: names) },
            forKeyedSubscript: "nearest"
        )
        object.setObject({ accessors($0 as String) }, forKeyedSubscript: "accessors")
        object.setObject({ milliseconds }, forKeyedSubscript: "milliseconds")
        object.setObject({ [unowned natives] in natives.runs($0 as String) }, forKeyedSubscript: "runs")
        return object
    }

    /// The functions for macros' texts, and for functions that all macros can use.
    private static func addTexts(_ object: JSValue, _ engine: MacroEngine) {
        object.setObject(
            { [unowned engine] (name: String, path: String, text: String, bytes: Int) in
                try mistakes { () throws(MacroError) in
                    try engine.define(checked: text, functionBytes: bytes, key: name, sourceURL: path)
                }
            },
            forKeyedSubscript: "define"
        )
        object.setObject(
            { [unowned engine] (name: String, function: JSValue) in engine.insertBlockAsObject(function, key: name) },
            forKeyedSubscript: "insert"
        )
        object.setObject(
            { [unowned engine] (name: String) in engine.removeMethod(key: name) },
            forKeyedSubscript: "remove"
        )
        object.setObject({ MacroName.problem(of: $0 as String) ?? "" }, forKeyedSubscript: "nameProblem")
    }

    private static func mistakes<Result>(_ body: () throws(MacroError) -> Result) throws(Mistake) -> Result {
        do throws(MacroError) { return try body() } catch { throw Mistake(error: error) }
    }

    /// A syntax error as JavaScript catches it: {message, line?, column?, source?}.
    private struct Mistake: JSErrorConvertible {
        let error: MacroError

        func jsError(in context: JSContext) -> JSValue {
            var members: [String: Any] = ["message": error.message]
            members["line"] = error.line
            members["column"] = error.column
            members["source"] = error.source
            return JSValue(object: members, in: context)
        }
    }

    /// The origin of something that was thrown: {macro?, file?, line?, column?, source?, stack}.
    private static func addErrors(_ object: JSValue, _ engine: MacroEngine) {
        object.setObject(
            { [unowned engine] (thrown: JSValue, stack: String, name: String, text: String) -> [String: Any] in
                var error = JSError(thrown)
                error.stack = stack
                let isOfRun = !name.isEmpty
                let placed = engine.macroError(error, key: isOfRun ? name : nil, javascript: isOfRun ? text : nil)
                var members: [String: Any] = [:]
                if !stack.isEmpty { members["stack"] = placed.stack }
                members["macro"] = placed.key
                // Errors in the runtime's own JavaScript get no position.
                guard let file = placed.file, !file.hasPrefix("quickconnect:") else { return members }
                members["file"] = file
                members["line"] = placed.line
                members["column"] = placed.column
                members["source"] = placed.source
                return members
            },
            forKeyedSubscript: "place"
        )
    }

    /// `[[value, the end of its accessors' names or null], …]` for the names of values.
    private static func accessors(_ names: String) -> String {
        let names = (try? JSONParser.parse(names))?.arrayValue?.compactMap(\.stringValue) ?? []
        let suffixes = ValueAccessors.suffixes(of: names)
        return JSONValue.array(suffixes.map { [.string($0.name), $0.suffix.map(JSONValue.string) ?? .null] }).text
    }

    /// Counted from an arbitrary moment.
    private static var milliseconds: Double { origin.duration(to: .now) / .milliseconds(1) }

    private static let origin = ContinuousClock.now
}
