internal import CJavaScriptCore

/// A Swift type whose values JavaScript can be given, and that can be read from JavaScript: as a parameter or the
/// result of an exported function, in a call, as a property.
///
/// A type of one's own conforms by the first two; the others are for what must be quick.
public protocol JSConvertible {
    /// The value as JavaScript's.
    func toJSValue(in context: JSContext) -> JSValue

    /// Reads JavaScript's value. Throws a ``JSConversionError`` where it is nothing of the kind.
    static func fromJSValue(_ value: JSValue) throws -> Self

    /// The value as the library's `JSValueRef`, in a `JSContextRef` that lives; nil is `undefined`.
    func toRef(in context: OpaquePointer) -> OpaquePointer?

    /// Reads a `JSValueRef` of a `JSContextRef` that lives. Throws as ``fromJSValue(_:)`` does.
    static func from(_ ref: OpaquePointer?, in context: OpaquePointer) throws -> Self
}

/// A JavaScript value that is not what a Swift type can be read from.
public struct JSConversionError: Error, CustomStringConvertible {
    /// What would have been right: `array`.
    public var expected: String

    /// The text that JavaScript sees: `the value is not an array`.
    public var description: String { "the value is not \(expected.withArticle)" }

    /// An error of your own type.
    /// - Parameter expected: what would have been right, without an article: the text says `is not an array`.
    public init(expected: String) { self.expected = expected }
}

extension String {
    /// A noun behind `a` or `an`, by its first letter.
    var withArticle: String { "\(first.map { "aeioAEIO".contains($0) } ?? false ? "an" : "a") \(self)" }
}

extension JSConvertible {
    /// By way of ``toJSValue(in:)``; `undefined` where that is of another machine, or the context's object is gone.
    public func toRef(in context: OpaquePointer) -> OpaquePointer? {
        guard let home = JSContext.of(context) else { return JSValueMakeUndefined(context) }
        return home.accept(toJSValue(in: home)) ?? JSValueMakeUndefined(context)
    }

    /// By way of ``fromJSValue(_:)``; throws where the context's object is gone.
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
    /// The value as JavaScript's, as ``JSConvertible/toRef(in:)`` makes it.
    public func toJSValue(in context: JSContext) -> JSValue { JSValue(toRef(in: context.ref), in: context) }

    /// Reads JavaScript's value, as ``JSConvertible/from(_:in:)`` does.
    public static func fromJSValue(_ value: JSValue) throws -> Self { try from(value.ref, in: value.home.ref) }
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
