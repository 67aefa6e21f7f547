internal import JavaScriptCore

/// The text of a macro, and the script that makes its function.
struct MacroText: Sendable {
    /// As given.
    let text: String
    let key: String
    /// The file name in errors.
    let file: String

    /// The function is the value of a member, so that a function without a name gets the macro's name.
    private var prefix: String { "({\(key):" }

    /// A comment may end the text, so the end of the object is on a line of its own.
    func script(of function: Substring) -> String { "\(prefix)\(function)\n})" }

    /// Converts a column of the script to one of the text; only the first line has a prefix.
    func column(_ column: Int, inLine line: Int) -> Int { line == 1 ? max(1, column - prefix.utf16.count) : column }

    /// A mistake in this text.
    func mistake(_ message: String, line: Int? = nil, column: Int? = nil) -> MacroError {
        var error = MacroError(message)
        error.key = key
        error.file = file
        // The parser counts the lines of an unterminated comment twice.
        error.line = line.map { min($0, ScriptLines.count(text)) }
        error.source = error.line.flatMap { ScriptLines.line($0, of: text) }
        error.column = error.line == line ? column : nil
        return error
    }
}
