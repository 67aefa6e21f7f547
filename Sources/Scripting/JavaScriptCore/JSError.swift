internal import CJavaScriptCore

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

/// An argument, or the object of a call, that is not what the Swift function expects: a `TypeError`.
struct JSArgumentError: JSErrorConvertible, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }

    func jsError(in context: JSContext) -> JSValue {
        // Not made with the global `TypeError`, which a script may have replaced: here the library itself throws one.
        var exception: OpaquePointer?
        _ = JSValueToObject(context.ref, JSValueMakeUndefined(context.ref), &exception)
        guard let exception else { return context.makeError(description) }
        Text.with("message") { name in
            JSObjectSetProperty(context.ref, exception, name, description.toRef(in: context.ref), 0, nil)
        }
        return JSValue(exception, in: context)
    }
}

extension JSContext {
    /// `new Error(message)`
    func makeError(_ message: String) -> JSValue {
        let text = Text.with(message) { JSValueMakeString(ref, $0) }
        return JSValue(JSObjectMakeError(ref, 1, [text], nil), in: self)
    }
}
