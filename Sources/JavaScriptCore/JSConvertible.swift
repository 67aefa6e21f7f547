internal import CJavaScriptCore
public import Foundation

/// A Swift type whose values JavaScript can be given, and that can be read from JavaScript: as a parameter or the
/// result of an exported function, in a call, as a property.
///
/// A type of one's own conforms by the first two; the others are for what must be quick.
public protocol JSConvertible {
    /// The value as JavaScript's.
    func toJSValue(in context: JSContext) -> JSValue

    /// Reads JavaScript's value. Throws a ``JSConversionError`` where it is nothing of the kind.
    static func fromJSValue(_ value: JSValue) throws -> Self

    /// The value as the library's `JSValueRef`, in a `JSContextRef`.
    func toRef(in context: OpaquePointer) -> OpaquePointer?

    /// Reads a `JSValueRef`.
    static func from(_ ref: OpaquePointer?, in context: OpaquePointer) throws -> Self
}

/// A JavaScript value that is not what a Swift type can be read from.
public struct JSConversionError: Error, CustomStringConvertible {
    /// What would have been right: `array`.
    public var expected: String
    public var description: String { "the value is no \(expected)" }

    public init(expected: String) { self.expected = expected }
}

extension JSConvertible {
    public func toRef(in context: OpaquePointer) -> OpaquePointer? {
        JSContext.of(context).map { toJSValue(in: $0) }?.ref ?? JSValueMakeUndefined(context)
    }

    public static func from(_ ref: OpaquePointer?, in context: OpaquePointer) throws -> Self {
        guard let context = JSContext.of(context) else {
            throw JSConversionError(expected: "value of a living context")
        }
        return try fromJSValue(JSValue(ref, in: context))
    }
}

/// Types whose quick functions are the whole conversion.
protocol JSDirectlyConvertible: JSConvertible {}

extension JSDirectlyConvertible {
    public func toJSValue(in context: JSContext) -> JSValue { JSValue(toRef(in: context.ref), in: context) }

    public static func fromJSValue(_ value: JSValue) throws -> Self { try from(value.ref, in: value.context.ref) }
}

extension Double: JSDirectlyConvertible {
    public func toRef(in context: OpaquePointer) -> OpaquePointer? { JSValueMakeNumber(context, self) }

    /// As `Number(value)` gives it; NaN for what is no number.
    public static func from(_ ref: OpaquePointer?, in context: OpaquePointer) throws -> Double {
        try checked(context) { JSValueToNumber(context, ref, $0) }
    }
}

extension Float: JSDirectlyConvertible {
    public func toRef(in context: OpaquePointer) -> OpaquePointer? { Double(self).toRef(in: context) }

    public static func from(_ ref: OpaquePointer?, in context: OpaquePointer) throws -> Float {
        Float(try Double.from(ref, in: context))
    }
}

extension JSConvertible where Self: FixedWidthInteger {
    public func toJSValue(in context: JSContext) -> JSValue { JSValue(toRef(in: context.ref), in: context) }

    public static func fromJSValue(_ value: JSValue) throws -> Self { try from(value.ref, in: value.context.ref) }

    public func toRef(in context: OpaquePointer) -> OpaquePointer? { JSValueMakeNumber(context, Double(self)) }

    /// The number without its fraction; 0 for NaN, the nearest one for what is out of range.
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

extension Bool: JSDirectlyConvertible {
    public func toRef(in context: OpaquePointer) -> OpaquePointer? { JSValueMakeBoolean(context, self) }

    public static func from(_ ref: OpaquePointer?, in context: OpaquePointer) -> Bool {
        JSValueToBoolean(context, ref)
    }
}

extension String: JSDirectlyConvertible {
    public func toRef(in context: OpaquePointer) -> OpaquePointer? {
        Text.with(self) { JSValueMakeString(context, $0) }
    }

    /// As `String(value)` gives it.
    public static func from(_ ref: OpaquePointer?, in context: OpaquePointer) throws -> String {
        guard let string = try checked(context, { JSValueToStringCopy(context, ref, $0) }) else { return "" }
        return Text.take(string)
    }
}

extension Date: JSDirectlyConvertible {
    public func toRef(in context: OpaquePointer) -> OpaquePointer? {
        let milliseconds = JSValueMakeNumber(context, (timeIntervalSince1970 * 1000).rounded())
        return JSObjectMakeDate(context, 1, [milliseconds], nil)
    }

    /// The time of a `Date`, or of a number of milliseconds since 1970. Throws a ``JSConversionError`` for what is no
    /// time, as `new Date(NaN)`.
    public static func from(_ ref: OpaquePointer?, in context: OpaquePointer) throws -> Date {
        guard let date = Date(javaScriptTime: try Double.from(ref, in: context)) else {
            throw JSConversionError(expected: "date")
        }
        return date
    }

    /// The ends of JavaScript's time, in milliseconds from 1970.
    private static let javaScriptTimes = -8.64e15...8.64e15

    /// Nil for what is no time. Foundation ends the process where it describes a date that is not a number.
    init?(javaScriptTime milliseconds: Double) {
        guard Self.javaScriptTimes.contains(milliseconds) else { return nil }
        self.init(timeIntervalSince1970: milliseconds / 1000)
    }
}

extension JSValue: JSConvertible {
    public func toJSValue(in context: JSContext) -> JSValue { self }
    public static func fromJSValue(_ value: JSValue) throws -> Self {
        guard let value = value as? Self else { throw JSConversionError(expected: "value") }
        return value
    }

    public func toRef(in context: OpaquePointer) -> OpaquePointer? {
        JSContext.of(context)?.accept(self) ?? JSValueMakeUndefined(context)
    }
}

extension Optional: JSConvertible where Wrapped: JSConvertible {
    /// Nil is `undefined`.
    public func toJSValue(in context: JSContext) -> JSValue {
        self?.toJSValue(in: context) ?? JSValue(nil, in: context)
    }

    /// `undefined` and `null` are nil.
    public static func fromJSValue(_ value: JSValue) throws -> Wrapped? {
        value.isUndefined || value.isNull ? nil : try Wrapped.fromJSValue(value)
    }

    public func toRef(in context: OpaquePointer) -> OpaquePointer? {
        self?.toRef(in: context) ?? JSValueMakeUndefined(context)
    }

    public static func from(_ ref: OpaquePointer?, in context: OpaquePointer) throws -> Wrapped? {
        JSValueIsUndefined(context, ref) || JSValueIsNull(context, ref) ? nil : try Wrapped.from(ref, in: context)
    }
}

extension Array: JSConvertible where Element: JSConvertible {
    public func toJSValue(in context: JSContext) -> JSValue { JSValue(toRef(in: context.ref), in: context) }

    public static func fromJSValue(_ value: JSValue) throws -> [Element] {
        guard value.isArray else { throw JSConversionError(expected: "array") }
        let count = value.arrayLength
        return try ReadingLimit.reading(count, "array") {
            try (0..<count).map { try Element.fromJSValue(value[$0]) }
        }
    }

    public func toRef(in context: OpaquePointer) -> OpaquePointer? {
        // Protected one by one: the collector does not look into a Swift array.
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
    public func toJSValue(in context: JSContext) -> JSValue {
        let object: JSValue = JSValue(newObjectIn: context)
        for (key, value) in self { object[key] = value.toJSValue(in: context) }
        return object
    }

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

/// Calls a function of the library that may throw into JavaScript.
@inline(__always)
func checked<Result>(
    _ context: OpaquePointer,
    _ body: (UnsafeMutablePointer<OpaquePointer?>) -> Result
) throws -> Result {
    var exception: OpaquePointer?
    let result = body(&exception)
    guard let exception else { return result }
    guard let context = JSContext.of(context) else { throw JSError(message: "the context is gone") }
    throw JSError(JSValue(exception, in: context))
}
