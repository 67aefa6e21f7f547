internal import CJavaScriptCore

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
