internal import CJavaScriptCore

/// Whole values as JSON text: faster than reading single properties, and independent of a script's changes to `JSON`.
extension JSValue {
    /// The value of a JSON text; nil if it is not valid.
    public convenience init?(newFromJSON text: String, in context: JSContext) {
        guard let ref = Text.with(text, { JSValueMakeFromJSONString(context.ref, $0) }) else { return nil }
        self.init(ref, in: context)
    }

    /// The value as `JSON.stringify` gives it; nil for what JSON cannot represent, such as `undefined` and a function.
    /// Throws what a `toJSON` or a getter throws, and a `TypeError` for a value that contains itself.
    public func jsonText() throws(JSError) -> String? {
        var exception: OpaquePointer?
        let text = JSValueCreateJSONString(home.ref, ref, 0, &exception)
        if exception != nil { throw home.error(exception) }
        return text.map(Text.take)
    }
}
