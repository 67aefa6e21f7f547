package import JavaScriptCore

/// Checks the syntax of scripts without running them.
public enum ScriptSyntax {
    /// The first mistake in a script, with its line, its column if it can be found, and the text of the line; nil if
    /// the script is valid.
    public static func mistake(in text: String) -> MacroError? {
        guard let context = JSContext() else { return MacroError("there is not enough memory to parse it") }
        return mistake(in: text, context)
    }

    /// The same with a context that is there.
    package static func mistake(in text: String, _ context: JSContext) -> MacroError? {
        guard let error = context.mistake(in: text) else { return nil }
        var mistake = MacroError(error)
        // The parser counts the lines of an unterminated comment twice.
        mistake.line = error.line.map { min($0, ScriptLines.count(text)) }
        mistake.source = mistake.line.flatMap { ScriptLines.line($0, of: text) }
        mistake.column = mistake.line == error.line ? error.column : nil
        return mistake
    }
}

/// Checks the texts of macros apart from the engine that runs them.
package enum MacroSyntax {
    /// The length of the function in the text, in bytes from its beginning: all but semicolons after it.
    /// - Throws: the first mistake in the text.
    package static func functionBytes(in text: String, _ context: JSContext) throws(MacroError) -> Int {
        let text = MacroText(text: text, key: "macro", file: "macro.js")
        let function = try MacroParser(context: context, text: text).function()
        // What is evaluated then, so that its time has been taken here, too.
        if let error = context.firstMistake(in: text.script(of: function)) { throw MacroError(error) }
        return function.utf8.count
    }
}
