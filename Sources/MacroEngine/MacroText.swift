internal import JavaScriptCore

/// The text of a macro, and the script that makes a function of it.
struct MacroText: Sendable {
    /// As it was given.
    let text: String
    let key: String
    /// What errors name as the file.
    let file: String

    /// The function is the value of a member, which gives a function without a name that of the macro.
    private var prefix: String { "({\(key):" }

    /// A comment may end the text, so what closes the object stands on a line of its own.
    func script(of function: Substring) -> String { "\(prefix)\(function)\n})" }

    /// The column in the text for one in the script; only the first line has something before it.
    func column(_ column: Int, inLine line: Int) -> Int { line == 1 ? max(1, column - prefix.utf16.count) : column }

    /// A mistake of this text.
    func mistake(_ message: String, line: Int? = nil, column: Int? = nil) -> MacroError {
        var error = MacroError(message)
        error.key = key
        error.file = file
        // The parser counts the lines of a comment without an end twice.
        error.line = line.map { min($0, ScriptLines.count(text)) }
        error.source = error.line.flatMap { ScriptLines.line($0, of: text) }
        error.column = error.line == line ? column : nil
        return error
    }
}
