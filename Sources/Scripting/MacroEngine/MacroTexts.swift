internal import JavaScriptCore
internal import Synchronization

/// The current texts of the macros, by the file name in errors.
final class MacroTexts: Sendable {
    /// Compared by bytes: names that Unicode considers equal are different files.
    private let texts = Mutex<[[UInt8]: MacroText]>([:])

    func add(_ text: MacroText) { texts.withLock { $0[Array(text.file.utf8)] = text } }

    func remove(key: String) {
        texts.withLock { $0 = $0.filter { !$0.value.key.utf8.elementsEqual(key.utf8) } }
    }

    /// The error with its position in the text of a macro.
    /// - Parameters:
    ///   - key: the macro that ran.
    ///   - javascript: the text that ran; nil: the current one.
    func place(_ error: JSError, of key: String? = nil, _ javascript: String? = nil) -> MacroError {
        var placed = MacroError(error)
        placed.key = key
        placed.stack = error.stack.map(place)
        guard let file = error.file, let text = text(of: file) else { return placed }
        placed.key = text.key
        guard let line = error.line else { return placed }
        let isOfRun = key.map { $0.utf8.elementsEqual(text.key.utf8) } ?? false
        placed.source = ScriptLines.line(line, of: isOfRun ? javascript ?? text.text : text.text)
        placed.column = error.column.map { text.column($0, inLine: line) }
        return placed
    }

    private func text(of file: some StringProtocol) -> MacroText? { texts.withLock { $0[Array(file.utf8)] } }

    private func place(stack: String) -> String {
        stack.split(separator: "\n", omittingEmptySubsequences: false).map(place(call:)).joined(separator: "\n")
    }

    /// `name@file:1:column`
    private func place(call: Substring) -> String {
        guard let colon = call.lastIndex(of: ":"), let column = Int(call[call.index(after: colon)...]),
            let at = call.firstIndex(of: "@"), call[..<colon].hasSuffix(":1"),
            let text = text(of: call[call.index(after: at)..<colon].dropLast(2))
        else { return String(call) }
        return "\(call[...colon])\(text.column(column, inLine: 1))"
    }
}

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
