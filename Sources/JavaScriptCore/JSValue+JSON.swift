internal import CJavaScriptCore

/// Whole values as text, quicker than one property after the other, and whatever a script has made of `JSON`.
extension JSValue {
    /// The value that a JSON text says; nil where it is none.
    public convenience init?(newFromJSON text: String, in context: JSContext) {
        guard let ref = Text.with(text, { JSValueMakeFromJSONString(context.ref, $0) }) else { return nil }
        self.init(ref, in: context)
    }

    /// The value as `JSON.stringify` gives it; nil for what JSON has no text for, such as `undefined` and a function.
    /// Throws what a `toJSON` or a getter throws, and a `TypeError` for what holds itself.
    public func jsonText() throws(JSError) -> String? {
        var exception: OpaquePointer?
        let text = JSValueCreateJSONString(home.ref, ref, 0, &exception)
        if exception != nil { throw home.error(exception) }
        return text.map(Text.take)
    }
}
