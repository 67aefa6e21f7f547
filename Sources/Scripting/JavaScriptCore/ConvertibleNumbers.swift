internal import CJavaScriptCore

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
