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

extension Double: JSDirectlyConvertible {
    /// A number.
    public func toRef(in context: OpaquePointer) -> OpaquePointer? { JSValueMakeNumber(context, self) }

    /// The number as `Number(value)` gives it; NaN if it is not a number. Throws a ``JSError`` for a symbol, and what a
    /// `valueOf` throws.
    public static func from(_ ref: OpaquePointer?, in context: OpaquePointer) throws -> Double {
        try checked(context) { JSValueToNumber(context, ref, $0) }
    }
}

extension Float: JSDirectlyConvertible {
    /// A number.
    public func toRef(in context: OpaquePointer) -> OpaquePointer? { Double(self).toRef(in: context) }

    /// The nearest `Float` to the number as `Double` reads it; an infinity if it is out of range.
    public static func from(_ ref: OpaquePointer?, in context: OpaquePointer) throws -> Float {
        Float(try Double.from(ref, in: context))
    }
}

extension JSConvertible where Self: FixedWidthInteger {
    /// A number. Beyond 2^53 it is the nearest one that JavaScript can represent.
    public func toJSValue(in context: JSContext) -> JSValue { JSValue(toRef(in: context.ref), in: context) }

    /// The number without its fraction; 0 for NaN, the nearest bound if it is out of range. Throws as `Double` does.
    public static func fromJSValue(_ value: JSValue) throws -> Self { try from(value.ref, in: value.home.ref) }

    /// A number. Beyond 2^53 it is the nearest one that JavaScript can represent.
    public func toRef(in context: OpaquePointer) -> OpaquePointer? { JSValueMakeNumber(context, Double(self)) }

    /// The number without its fraction; 0 for NaN, the nearest bound if it is out of range. Throws as `Double` does.
    public static func from(_ ref: OpaquePointer?, in context: OpaquePointer) throws -> Self {
        let number = try Double.from(ref, in: context)
        guard !number.isNaN else { return 0 }
        if let whole = Self(exactly: number.rounded(.towardZero)) { return whole }
        return number < 0 ? .min : .max
    }
}

extension Int: JSConvertible {}
extension Int32: JSConvertible {}
extension UInt32: JSConvertible {}
extension Int64: JSConvertible {}
extension UInt64: JSConvertible {}
extension UInt: JSConvertible {}
extension Int8: JSConvertible {}
extension UInt8: JSConvertible {}
extension Int16: JSConvertible {}
extension UInt16: JSConvertible {}

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
