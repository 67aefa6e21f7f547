internal import CJavaScriptCore
public import Foundation

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

    /// The text as `String(value)` gives it; half a surrogate pair becomes U+FFFD. Throws the ``JSError`` of a symbol,
    /// and what a `toString` throws.
    public static func from(_ ref: OpaquePointer?, in context: OpaquePointer) throws -> String {
        guard let string = try checked(context, { JSValueToStringCopy(context, ref, $0) }) else { return "" }
        return Text.take(string)
    }
}

extension Date: JSDirectlyConvertible {
    /// A `Date`, to the millisecond; one that is no time, `Invalid Date`, for what is out of JavaScript's range.
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
    /// The value itself, whatever the context.
    public func toJSValue(in context: JSContext) -> JSValue { self }

    /// The value itself.
    public static func fromJSValue(_ value: JSValue) throws -> Self {
        guard let value = value as? Self else { throw JSConversionError(expected: "value") }
        return value
    }

    /// The value itself; `undefined` where it is of another machine.
    public func toRef(in context: OpaquePointer) -> OpaquePointer? {
        JSContext.of(context)?.accept(self) ?? JSValueMakeUndefined(context)
    }
}
