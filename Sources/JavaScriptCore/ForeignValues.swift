internal import CJavaScriptCore

#if Foundation

    public import Foundation

    /// The values that Foundation has for what Swift has no type for.
    enum ForeignValues {
        static var null: Any { NSNull() }

        static func number(_ value: JSValue) -> Any? { value.toNumber() }

        static func date(_ value: JSValue) -> Any? { value.toDate() }

        /// Nil for what is none of them.
        static func convert(_ value: Any, in context: OpaquePointer) -> OpaquePointer? {
            switch value {
            case is NSNull: JSValueMakeNull(context)
            case let value as NSNumber: number(value).toRef(in: context)
            default: nil
            }
        }

        private static func number(_ value: NSNumber) -> any JSDirectlyConvertible {
            // A boolean's type is `c`, a char, and an Int8's too: those two cannot be told apart by it.
            value === NSNumber(value: true) || value === NSNumber(value: false) ? value.boolValue : value.doubleValue
        }
    }

    extension JSValue {
        /// The boolean, or the number as ``toDouble()`` gives it: NaN for what is none. Never nil.
        public func toNumber() -> NSNumber! { isBoolean ? NSNumber(value: toBool()) : NSNumber(value: toDouble()) }

        /// The time of a `Date`, or of a number of milliseconds since 1970; nil where that is no time, as in
        /// `new Date(NaN)`, or out of JavaScript's range, 8.64e15 ms to each side.
        public func toDate() -> Date! { Date(javaScriptTime: toDouble()) }
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

#else

    /// Swift's own values for what has no type in Swift. Foundation, with its tables of all languages, is two thirds of a
    /// program that is linked with it, so the programs go without.
    enum ForeignValues {
        static var null: Any { Any?.none as Any }

        static func number(_ value: JSValue) -> Any? { value.isBoolean ? value.toBool() : value.toDouble() }

        /// Milliseconds since 1970; nil for a date that is no time.
        static func date(_ value: JSValue) -> Any? {
            let milliseconds = value.toDouble()
            return milliseconds.isNaN ? nil : milliseconds
        }

        static func convert(_ value: Any, in context: OpaquePointer) -> OpaquePointer? { nil }
    }

#endif
