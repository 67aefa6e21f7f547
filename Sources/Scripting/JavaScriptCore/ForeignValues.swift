internal import CJavaScriptCore

#if Foundation

    public import Foundation

    /// Foundation's types for values that have no type in Swift.
    enum ForeignValues {
        static var null: Any { NSNull() }

        static func number(_ value: JSValue) -> Any? { value.toNumber() }

        static func date(_ value: JSValue) -> Any? { value.toDate() }

        /// Nil if the value is none of them.
        static func convert(_ value: Any, in context: OpaquePointer) -> OpaquePointer? {
            switch value {
            case is NSNull: JSValueMakeNull(context)
            case let value as NSNumber: number(value).toRef(in: context)
            default: nil
            }
        }

        private static func number(_ value: NSNumber) -> any JSDirectlyConvertible {
            // The type code of a boolean is `c`, a char, and so is that of an Int8, so the code does not tell them
            // apart.
            value === NSNumber(value: true) || value === NSNumber(value: false) ? value.boolValue : value.doubleValue
        }
    }

    extension JSContext {
        /// Runs a script whose errors name a file or an address, as its whole text.
        // A nil is a string's, so that both may be written.
        @_disfavoredOverload
        @discardableResult
        public func evaluateScript(_ script: String!, withSourceURL sourceURL: URL!) -> JSValue! {
            evaluateScript(script, withSourceURL: sourceURL?.absoluteString)
        }
    }

    extension JSValue {
        /// The boolean, or the number as ``toDouble()`` gives it: NaN if it is not a number. Never nil.
        public func toNumber() -> NSNumber! { isBoolean ? NSNumber(value: toBool()) : NSNumber(value: toDouble()) }

        /// The time of a `Date`, or of a number of milliseconds since 1970; nil if it is not a time, as in `new
        /// Date(NaN)`, or out of JavaScript's range, 8.64e15 ms in either direction.
        public func toDate() -> Date! { Date(javaScriptTime: toDouble()) }
    }

    extension Date: JSDirectlyConvertible {
        /// A `Date`, to the millisecond; an `Invalid Date` if it is out of JavaScript's range.
        public func toRef(in context: OpaquePointer) -> OpaquePointer? {
            let milliseconds = JSValueMakeNumber(context, (timeIntervalSince1970 * 1000).rounded())
            return JSObjectMakeDate(context, 1, [milliseconds], nil)
        }

        /// The time of a `Date`, or of a number of milliseconds since 1970. Throws a ``JSConversionError`` for an
        /// invalid time, such as `new Date(NaN)`.
        public static func from(_ ref: OpaquePointer?, in context: OpaquePointer) throws -> Date {
            guard let date = Date(javaScriptTime: try Double.from(ref, in: context)) else {
                throw JSConversionError(expected: "date")
            }
            return date
        }

        /// JavaScript's range of times, in milliseconds since 1970.
        private static let javaScriptTimes = -8.64e15...8.64e15

        /// Nil for an invalid time. Foundation crashes when it describes a date that is not a number.
        init?(javaScriptTime milliseconds: Double) {
            guard Self.javaScriptTimes.contains(milliseconds) else { return nil }
            self.init(timeIntervalSince1970: milliseconds / 1000)
        }
    }

#else

    /// Swift's own values for what has no type in Swift. Foundation, with its tables for all languages, would make up
    /// two thirds of a program that links it, so the programs do without it.
    enum ForeignValues {
        static var null: Any { Any?.none as Any }

        static func number(_ value: JSValue) -> Any? { value.isBoolean ? value.toBool() : value.toDouble() }

        /// Milliseconds since 1970; nil for an invalid date.
        static func date(_ value: JSValue) -> Any? {
            let milliseconds = value.toDouble()
            return milliseconds.isNaN ? nil : milliseconds
        }

        static func convert(_ value: Any, in context: OpaquePointer) -> OpaquePointer? { nil }
    }

#endif
