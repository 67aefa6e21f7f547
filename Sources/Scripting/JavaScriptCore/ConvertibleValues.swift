internal import CJavaScriptCore

extension Bool: JSDirectlyConvertible {
    /// `true` or `false`.
    public func toRef(in context: OpaquePointer) -> OpaquePointer? { JSValueMakeBoolean(context, self) }

    /// The boolean as `Boolean(value)` gives it; every value has one.
    public static func from(_ ref: OpaquePointer?, in context: OpaquePointer) -> Bool {
        JSValueToBoolean(context, ref)
    }
}

extension String: JSDirectlyConvertible {
    /// A string.
    public func toRef(in context: OpaquePointer) -> OpaquePointer? {
        Text.with(self) { JSValueMakeString(context, $0) }
    }

    /// The text as `String(value)` gives it; a lone surrogate becomes U+FFFD. Throws a ``JSError`` for a symbol, and
    /// what a `toString` throws.
    public static func from(_ ref: OpaquePointer?, in context: OpaquePointer) throws -> String {
        guard let string = try checked(context, { JSValueToStringCopy(context, ref, $0) }) else { return "" }
        return Text.take(string)
    }
}

extension JSValue: JSConvertible {
    /// The value itself, whatever the context.
    public func toJSValue(in context: JSContext) -> JSValue { self }

    /// The value itself.
    public static func fromJSValue(_ value: JSValue) throws -> Self {
        guard let value = value as? Self else { throw JSConversionError(expected: "value") }
        return value
    }

    /// The value itself; `undefined` if it belongs to another machine.
    public func toRef(in context: OpaquePointer) -> OpaquePointer? {
        JSContext.of(context)?.accept(self) ?? JSValueMakeUndefined(context)
    }
}
