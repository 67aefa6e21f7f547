public import JavaScriptCore

/// A mistake in the text of a macro, or an error that one threw.
public struct MacroError: Error, Sendable, CustomStringConvertible {
    /// The title of a window that shows the error.
    public static let title = "Javascript Evaluation Error"

    /// The title of a window that shows the error.
    public var title: String { Self.title }
    /// The name of the macro; nil if the error comes from elsewhere.
    public var key: String?
    /// What went wrong, as `String(error)` gives it: `ReferenceError: Can't find variable: x`.
    public var message: String
    /// The file; nil if the script had none.
    public var file: String?
    /// The line, counted from the first line of the macro's own text; nil if what was thrown is not an error.
    public var line: Int?
    /// The column in the line, counted from 1 in UTF-16 units; nil if unknown.
    public var column: Int?
    /// The text of the line; nil if it is not in a macro's text.
    public var source: String?
    /// The call stack, one line for each call, innermost first: `name@file:line:column`.
    public var stack: String?
    /// What was thrown; nil for a mistake in the text, or in a name.
    public var value: JSValue?

    init(_ message: String) { self.message = message }

    init(_ error: JSError) {
        message = error.name.map { "\($0): \(error.message)" } ?? error.message
        file = error.file
        line = error.line
        column = error.column
        stack = error.stack
        value = error.value
    }

    /// `file:line:column: message`, with the parts that are known, and below it the line, with a caret below the
    /// column.
    public var description: String {
        let place = file.map {
            ([$0] + [line, column].compactMap { $0 }.map(String.init)).joined(separator: ":") + ": "
        }
        return ([(place ?? "") + message] + [source, caret].compactMap(\.self)).joined(separator: "\n")
    }

    /// The indentation that puts a caret below the column: tabs stay tabs.
    private var caret: String? {
        guard let source, let column, column >= 1, column <= source.utf16.count + 1 else { return nil }
        return source.utf16.prefix(column - 1).map { $0 == 9 ? "\t" : " " }.joined() + "^"
    }
}
