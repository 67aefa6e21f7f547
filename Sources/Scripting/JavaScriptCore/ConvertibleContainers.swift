internal import CJavaScriptCore

extension Optional: JSConvertible where Wrapped: JSConvertible {
    /// The value; `undefined` for nil.
    public func toJSValue(in context: JSContext) -> JSValue {
        self?.toJSValue(in: context) ?? JSValue(nil, in: context)
    }

    /// Reads the value; nil for `undefined` and `null`. Throws as the type does.
    public static func fromJSValue(_ value: JSValue) throws -> Wrapped? {
        value.isUndefined || value.isNull ? nil : try Wrapped.fromJSValue(value)
    }

    /// The value; `undefined` for nil.
    public func toRef(in context: OpaquePointer) -> OpaquePointer? {
        self?.toRef(in: context) ?? JSValueMakeUndefined(context)
    }

    /// Reads the value; nil for `undefined` and `null`. Throws as the type does.
    public static func from(_ ref: OpaquePointer?, in context: OpaquePointer) throws -> Wrapped? {
        JSValueIsUndefined(context, ref) || JSValueIsNull(context, ref) ? nil : try Wrapped.from(ref, in: context)
    }
}

extension Array: JSConvertible where Element: JSConvertible {
    /// A new `Array`.
    public func toJSValue(in context: JSContext) -> JSValue { JSValue(toRef(in: context.ref), in: context) }

    /// Reads the items of an `Array`. Throws a ``JSConversionError`` if it is not an array, if an item has another
    /// type, and if everything being read has more than 1048576 items or 512 levels.
    public static func fromJSValue(_ value: JSValue) throws -> [Element] {
        guard value.isArray else { throw JSConversionError(expected: "array") }
        let count = value.arrayLength
        return try ReadingLimit.reading(count, "array") {
            try (0..<count).map { try Element.fromJSValue(value[$0]) }
        }
    }

    /// A new `Array`.
    public func toRef(in context: OpaquePointer) -> OpaquePointer? {
        // Protected one by one: the garbage collector does not scan a Swift array.
        let refs = map { element in
            let ref = element.toRef(in: context)
            JSValueProtect(context, ref)
            return ref
        }
        defer { for ref in refs { JSValueUnprotect(context, ref) } }
        return JSObjectMakeArray(context, refs.count, refs, nil)
    }
}

extension Dictionary: JSConvertible where Key == String, Value: JSConvertible {
    /// A new object with a property for each key.
    public func toJSValue(in context: JSContext) -> JSValue {
        let object = JSValue(JSObjectMake(context.ref, nil, nil), in: context)
        for (key, value) in self { object[key] = value.toJSValue(in: context) }
        return object
    }

    /// Reads an object's enumerable properties, its own and inherited ones. Throws a ``JSConversionError`` for an
    /// array, a function and a value that is not an object, if a property has another type, and, like arrays, if it is
    /// too large; a ``JSError`` if a proxy throws.
    public static func fromJSValue(_ value: JSValue) throws -> [String: Value] {
        guard value.isObject, !value.isArray, !value.isFunction else { throw JSConversionError(expected: "object") }
        let names = try value.names()
        return try ReadingLimit.reading(names.count, "object") {
            try Dictionary(
                names.map { ($0, try Value.fromJSValue(value[$0])) },
                uniquingKeysWith: { _, last in last }
            )
        }
    }
}
