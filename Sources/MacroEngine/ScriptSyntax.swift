internal import JavaScriptCore

/// Checks the syntax of scripts without running them.
public enum ScriptSyntax {
    /// The first mistake in a script, with its line, its column if it can be found, and the text of the line; nil if
    /// the script is valid.
    public static func mistake(in text: String) -> MacroError? {
        guard let context = JSContext() else { return MacroError("there is not enough memory to parse it") }
        guard let error = context.mistake(in: text) else { return nil }
        var mistake = MacroError(error)
        // The parser counts the lines of an unterminated comment twice.
        mistake.line = error.line.map { min($0, ScriptLines.count(text)) }
        mistake.source = mistake.line.flatMap { ScriptLines.line($0, of: text) }
        mistake.column = mistake.line == error.line ? error.column : nil
        return mistake
    }
}
