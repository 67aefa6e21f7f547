/// What JavaScript threw, with its place.
public struct JSError: Error, Sendable, CustomStringConvertible {
    /// The text of the error, without its name: `Can't find variable: x`.
    public var message: String
    /// `TypeError`, `SyntaxError`, …; nil where something was thrown that is no error.
    public var name: String?
    /// The source URL of the script; nil where it had none.
    public var file: String?
    /// The line in the script, counted from the script's first line.
    public var line: Int?
    /// The column in the line, counted from 1; a syntax error has none.
    public var column: Int?
    /// The calls that led there, a line each, innermost first.
    public var stack: String?
    /// What was thrown; nil where the script was ended from outside.
    public var value: JSValue?

    init(message: String) { self.message = message }

    /// Reads an error, or says what else was thrown. Parts of it that throw are left out, and nobody is told of them.
    public init(_ value: JSValue) {
        self.value = value
        guard let text = value.peek("message"), text.isString else {
            message = value.text ?? "something without a text was thrown"
            return
        }
        message = text.description
        name = value.peek("name")?.text
        file = value.peek("sourceURL").flatMap { $0.isString ? $0.text : nil }
        line = value.peek("line")?.integer
        column = value.peek("column")?.integer
        stack = value.peek("stack").flatMap { $0.isString ? $0.text : nil }
    }

    /// `file:line:column: TypeError: message`, as far as it is known.
    public var description: String {
        var words = place.map { [$0] } ?? []
        if let name { words.append(name) }
        return (words + [message]).joined(separator: ": ")
    }

    /// `file:line:column`, as far as it is known.
    public var place: String? {
        guard let file else { return nil }
        return ([file] + [line, column].compactMap { $0 }.map(String.init)).joined(separator: ":")
    }
}

/// A Swift error that says itself what JavaScript sees when a Swift function throws it. Others become an `Error` with
/// the text of their description.
public protocol JSErrorConvertible: Error {
    /// The value to throw in a context. One of another machine is not taken: an `Error` stands for it.
    func jsError(in context: JSContext) -> JSValue
}

extension JSError: JSErrorConvertible {
    /// What was thrown, again.
    public func jsError(in context: JSContext) -> JSValue {
        value ?? context.makeError(message)
    }
}
