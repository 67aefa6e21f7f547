internal import CJavaScriptCore

/// A Swift type that can be converted to and from JavaScript: as a parameter or the result of an exported function, in
/// a call, as a property.
///
/// Your own type needs only the first two functions; the others are for types that must be fast.
public protocol JSConvertible {
    /// The value in JavaScript.
    func toJSValue(in context: JSContext) -> JSValue

    /// Reads a JavaScript value. Throws a ``JSConversionError`` if it has another type.
    static func fromJSValue(_ value: JSValue) throws -> Self

    /// The value as the library's `JSValueRef`, in a live `JSContextRef`; nil is `undefined`.
    func toRef(in context: OpaquePointer) -> OpaquePointer?

    /// Reads a `JSValueRef` of a live `JSContextRef`. Throws as ``fromJSValue(_:)`` does.
    static func from(_ ref: OpaquePointer?, in context: OpaquePointer) throws -> Self
}

/// A JavaScript value that cannot be read as a Swift type.
public struct JSConversionError: Error, CustomStringConvertible {
    /// What was expected: `array`.
    public var expected: String

    /// The message in JavaScript: `the value is not an array`.
    public var description: String { "the value is not \(expected.withArticle)" }

    /// An error of your own type.
    /// - Parameter expected: what was expected, without an article: the message says `is not an array`.
    public init(expected: String) { self.expected = expected }
}

extension String {
    /// A noun with `a` or `an`, chosen by its first letter.
    var withArticle: String { "\(first.map { "aeioAEIO".contains($0) } ?? false ? "an" : "a") \(self)" }
}

extension JSConvertible {
    /// Uses ``toJSValue(in:)``; `undefined` if its result belongs to another machine, or the context's object is gone.
    public func toRef(in context: OpaquePointer) -> OpaquePointer? {
        guard let home = JSContext.of(context) else { return JSValueMakeUndefined(context) }
        return home.accept(toJSValue(in: home)) ?? JSValueMakeUndefined(context)
    }

    /// Uses ``fromJSValue(_:)``; throws if the context's object is gone.
    public static func from(_ ref: OpaquePointer?, in context: OpaquePointer) throws -> Self {
        guard let context = JSContext.of(context) else {
            throw JSConversionError(expected: "value of a living context")
        }
        return try fromJSValue(JSValue(ref, in: context))
    }
}

/// Types whose fast functions are the whole conversion.
protocol JSDirectlyConvertible: JSConvertible {}

extension JSDirectlyConvertible {
    /// The value in JavaScript, made by ``JSConvertible/toRef(in:)``.
    public func toJSValue(in context: JSContext) -> JSValue { JSValue(toRef(in: context.ref), in: context) }

    /// Reads a JavaScript value with ``JSConvertible/from(_:in:)``.
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
