/// What JavaScript threw, and where.
public struct JSError: Error, Sendable, CustomStringConvertible {
    /// The text of the error, without its name: `Can't find variable: x`.
    public var message: String
    /// `TypeError`, `SyntaxError`, …; nil if what was thrown is not an error.
    public var name: String?
    /// The source URL of the script; nil if it had none.
    public var file: String?
    /// The line in the script. The number of its first line is the one given to
    /// ``JSContext/evaluate(_:sourceURL:line:)``.
    public var line: Int?
    /// The column in the line, counted from 1; a syntax error has none.
    public var column: Int?
    /// The call stack, one line for each call, innermost first.
    public var stack: String?
    /// What was thrown; nil if the script was terminated from outside.
    public var value: JSValue?

    init(message: String) { self.message = message }

    /// Reads an error, or describes what else was thrown. Parts that throw when read are left out without a report.
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

    /// `file:line:column: TypeError: message`, with the parts that are known.
    public var description: String {
        var words = place.map { [$0] } ?? []
        if let name { words.append(name) }
        return (words + [message]).joined(separator: ": ")
    }

    /// `file:line:column`, with the parts that are known.
    public var place: String? {
        guard let file else { return nil }
        return ([file] + [line, column].compactMap { $0 }.map(String.init)).joined(separator: ":")
    }
}

/// A Swift error that decides what JavaScript sees when a Swift function throws it. Other errors become an `Error` with
/// their description as message.
public protocol JSErrorConvertible: Error {
    /// The value to throw in a context. If it belongs to another machine, an `Error` replaces it.
    func jsError(in context: JSContext) -> JSValue
}

extension JSError: JSErrorConvertible {
    /// Throws the original value again.
    public func jsError(in context: JSContext) -> JSValue {
        value ?? context.makeError(message)
    }
}
