internal import CJavaScriptCore

/// The types of a closure's parameters. A closure in an `Any` can only be cast to a type with the same number of
/// parameters, so there is a list type for each number.
protocol ClosureParameters {
    /// The list with one more type. Nil if that is too long.
    static func adding<Next>(_ type: Next.Type) -> (any ClosureParameters.Type)?

    /// A body that calls the closure. Nil if the closure has another type.
    static func body<R>(_ closure: Any, returning: R.Type) -> FunctionBox.Body?
}

extension FunctionBox {
    /// - Parameter closure: nil if it has another type.
    fileprivate static func body<Function, Result>(
        _ closure: Function?,
        _ call: @escaping (_ closure: Function, _ next: inout ArgumentReader) throws -> Result
    ) -> Body? {
        guard let closure else { return nil }
        return { frame in
            var next = ArgumentReader(frame)
            return try frame.answer(call(closure, &next))
        }
    }
}

enum Parameters0: ClosureParameters {
    static func adding<Next>(_ type: Next.Type) -> (any ClosureParameters.Type)? { Parameters1<Next>.self }

    static func body<R>(_ closure: Any, returning: R.Type) -> FunctionBox.Body? {
        let plain = closure as? () throws -> R
        return FunctionBox.body(plain ?? closure as? @Sendable () throws -> R) { call, next in
            try call()
        }
    }
}

enum Parameters1<A>: ClosureParameters {
    static func adding<Next>(_ type: Next.Type) -> (any ClosureParameters.Type)? { Parameters2<A, Next>.self }

    static func body<R>(_ closure: Any, returning: R.Type) -> FunctionBox.Body? {
        let plain = closure as? (A) throws -> R
        return FunctionBox.body(plain ?? closure as? @Sendable (A) throws -> R) { call, next in
            try call(next())
        }
    }
}

enum Parameters2<A, B>: ClosureParameters {
    static func adding<Next>(_ type: Next.Type) -> (any ClosureParameters.Type)? { Parameters3<A, B, Next>.self }

    static func body<R>(_ closure: Any, returning: R.Type) -> FunctionBox.Body? {
        let plain = closure as? (A, B) throws -> R
        return FunctionBox.body(plain ?? closure as? @Sendable (A, B) throws -> R) { call, next in
            try call(next(), next())
        }
    }
}

enum Parameters3<A, B, C>: ClosureParameters {
    static func adding<Next>(_ type: Next.Type) -> (any ClosureParameters.Type)? { Parameters4<A, B, C, Next>.self }

    static func body<R>(_ closure: Any, returning: R.Type) -> FunctionBox.Body? {
        let plain = closure as? (A, B, C) throws -> R
        return FunctionBox.body(plain ?? closure as? @Sendable (A, B, C) throws -> R) { call, next in
            try call(next(), next(), next())
        }
    }
}

enum Parameters4<A, B, C, D>: ClosureParameters {
    static func adding<Next>(_ type: Next.Type) -> (any ClosureParameters.Type)? { Parameters5<A, B, C, D, Next>.self }

    static func body<R>(_ closure: Any, returning: R.Type) -> FunctionBox.Body? {
        let plain = closure as? (A, B, C, D) throws -> R
        return FunctionBox.body(plain ?? closure as? @Sendable (A, B, C, D) throws -> R) { call, next in
            try call(next(), next(), next(), next())
        }
    }
}

enum Parameters5<A, B, C, D, E>: ClosureParameters {
    static func adding<Next>(_ type: Next.Type) -> (any ClosureParameters.Type)? {
        Parameters6<A, B, C, D, E, Next>.self
    }

    static func body<R>(_ closure: Any, returning: R.Type) -> FunctionBox.Body? {
        let plain = closure as? (A, B, C, D, E) throws -> R
        return FunctionBox.body(plain ?? closure as? @Sendable (A, B, C, D, E) throws -> R) { call, next in
            try call(next(), next(), next(), next(), next())
        }
    }
}

enum Parameters6<A, B, C, D, E, F>: ClosureParameters {
    static func adding<Next>(_ type: Next.Type) -> (any ClosureParameters.Type)? {
        Parameters7<A, B, C, D, E, F, Next>.self
    }

    static func body<R>(_ closure: Any, returning: R.Type) -> FunctionBox.Body? {
        let plain = closure as? (A, B, C, D, E, F) throws -> R
        return FunctionBox.body(plain ?? closure as? @Sendable (A, B, C, D, E, F) throws -> R) { call, next in
            try call(next(), next(), next(), next(), next(), next())
        }
    }
}

enum Parameters7<A, B, C, D, E, F, G>: ClosureParameters {
    static func adding<Next>(_ type: Next.Type) -> (any ClosureParameters.Type)? {
        Parameters8<A, B, C, D, E, F, G, Next>.self
    }

    static func body<R>(_ closure: Any, returning: R.Type) -> FunctionBox.Body? {
        let plain = closure as? (A, B, C, D, E, F, G) throws -> R
        return FunctionBox.body(plain ?? closure as? @Sendable (A, B, C, D, E, F, G) throws -> R) { call, next in
            try call(next(), next(), next(), next(), next(), next(), next())
        }
    }
}

enum Parameters8<A, B, C, D, E, F, G, H>: ClosureParameters {
    static func adding<Next>(_ type: Next.Type) -> (any ClosureParameters.Type)? {
        Parameters9<A, B, C, D, E, F, G, H, Next>.self
    }

    static func body<R>(_ closure: Any, returning: R.Type) -> FunctionBox.Body? {
        let plain = closure as? (A, B, C, D, E, F, G, H) throws -> R
        return FunctionBox.body(plain ?? closure as? @Sendable (A, B, C, D, E, F, G, H) throws -> R) { call, next in
            try call(next(), next(), next(), next(), next(), next(), next(), next())
        }
    }
}

enum Parameters9<A, B, C, D, E, F, G, H, I>: ClosureParameters {
    static func adding<Next>(_ type: Next.Type) -> (any ClosureParameters.Type)? {
        Parameters10<A, B, C, D, E, F, G, H, I, Next>.self
    }

    static func body<R>(_ closure: Any, returning: R.Type) -> FunctionBox.Body? {
        let plain = closure as? (A, B, C, D, E, F, G, H, I) throws -> R
        return FunctionBox.body(plain ?? closure as? @Sendable (A, B, C, D, E, F, G, H, I) throws -> R) { call, next in
            try call(next(), next(), next(), next(), next(), next(), next(), next(), next())
        }
    }
}

enum Parameters10<A, B, C, D, E, F, G, H, I, J>: ClosureParameters {
    static func adding<Next>(_ type: Next.Type) -> (any ClosureParameters.Type)? { nil }

    static func body<R>(_ closure: Any, returning: R.Type) -> FunctionBox.Body? {
        let plain = closure as? (A, B, C, D, E, F, G, H, I, J) throws -> R
        return FunctionBox.body(plain ?? closure as? @Sendable (A, B, C, D, E, F, G, H, I, J) throws -> R) {
            call,
            next in
            try call(next(), next(), next(), next(), next(), next(), next(), next(), next(), next())
        }
    }
}

/// What Swift's runtime knows about the type of a closure.
///
/// No function of the runtime returns it, so this reads the type metadata directly. The words of a function type's
/// metadata are its kind, its flags including the number of parameters, its result, and its parameters.
package struct ClosureSignature {
    let parameters: [Any.Type]
    let result: Any.Type

    private typealias Words = UnsafePointer<UInt>

    /// The bits of the flags.
    private enum Flags {
        static let count: UInt = 0xffff
        static let convention: UInt = 0x00ff_0000
        static let block: UInt = 0x0001_0000
        static let throwing: UInt = 0x0100_0000
        static let escaping: UInt = 0x0400_0000
        static let sendable: UInt = 0x4000_0000
        static let plain = count | throwing | escaping | sendable
    }

    /// Nil for a closure that needs another way of calling: one that is asynchronous, isolated to an actor, has the C
    /// convention, typed throws, or parameters that are `inout`, owned or variadic.
    init?(of type: Any.Type) {
        let words = Self.words(type)
        guard Self.isKnown, words[1] & ~Flags.plain == 0 else { return nil }
        parameters = (0..<Int(words[1] & Flags.count)).map { unsafeBitCast(words[3 + $0], to: Any.Type.self) }
        result = unsafeBitCast(words[2], to: Any.Type.self)
    }

    /// Whether it is the type of a `@convention(block)` closure. Such a closure can be called, but putting it into an
    /// `Any` crashes the process.
    package static func isBlock(_ type: Any.Type) -> Bool {
        isKnown && isFunction(type) && words(type)[1] & Flags.convention == Flags.block
    }

    static func isFunction(_ type: Any.Type) -> Bool { words(type)[0] == 0x302 }

    private static func words(_ type: Any.Type) -> Words { unsafeBitCast(type, to: Words.self) }

    /// Whether the present runtime has this metadata layout.
    private static let isKnown: Bool = {
        let type: Any.Type = ((Int, String) throws -> Bool).self
        let words = Self.words(type)
        let address = { (type: Any.Type) in unsafeBitCast(type, to: UInt.self) }
        return isFunction(type) && words[1] == Flags.escaping | Flags.throwing | 2
            && words[2] == address(Bool.self) && words[3] == address(Int.self) && words[4] == address(String.self)
    }()
}

/// A Swift closure of a type known only at run time, such as one in a dictionary.
struct Closure {
    private let value: Any

    /// Nil if the value is not a closure.
    init?(_ value: Any) {
        guard ClosureSignature.isFunction(type(of: value)) else { return nil }
        self.value = value
    }

    /// A JavaScript function that calls it. Throws if that is not possible.
    func function(_ name: String, in context: JSContext) throws(JSError) -> OpaquePointer? {
        guard let body else {
            throw JSError(message: "JavaScript cannot call a Swift closure of the type \(type(of: value))")
        }
        return NativeFunction.make(name, in: context, body)
    }

    private var body: FunctionBox.Body? {
        guard let signature = ClosureSignature(of: type(of: value)) else { return nil }
        var list: (any ClosureParameters.Type)? = Parameters0.self
        for parameter in signature.parameters { list = list?.adding(parameter) }
        return list?.body(value, returning: signature.result)
    }
}

extension ArgumentReader {
    /// Takes an argument of a type that need not be convertible by itself, such as `Any` or a Swift object.
    mutating func callAsFunction<Value>() throws -> Value {
        try next { ref, context in
            guard let type = Value.self as? any JSConvertible.Type else { return try Self.object(ref, context) }
            guard let value = try type.from(ref, in: context) as? Value else { throw Self.unreadable(Value.self) }
            return value
        }
    }

    private static func object<Value>(_ ref: OpaquePointer?, _ context: OpaquePointer) throws -> Value {
        guard let home = JSContext.of(context) else { throw Self.unreadable(Value.self) }
        var reader = JSValueReader()
        let object: Any = try reader.object(JSValue(ref, in: home)) ?? nothing(Value.self)
        if let value = object as? Value { return value }
        // `null` is nil for a type that holds no NSNull, such as `[Any]?`.
        guard JSValueIsNull(context, ref), let value = nothing(Value.self) as? Value else {
            throw Self.unreadable(Value.self)
        }
        return value
    }

    /// What `undefined` becomes for a type: nil, if the type can hold it.
    private static func nothing<Value>(_ type: Value.Type) -> Any {
        (type as? any OptionalValue.Type)?.nothing ?? ForeignValues.null
    }

    private static func unreadable<Value>(_ type: Value.Type) -> JSConversionError {
        let name = "\(type)".replacing("Optional<", with: "")
        return JSConversionError(
            expected: name.hasPrefix("Array<") ? "array" : name.hasPrefix("Dictionary<") ? "object" : "\(type)"
        )
    }
}

extension NativeFrame {
    /// The result of a closure, of any type.
    func answer(_ value: Any?) throws -> OpaquePointer? { try context?.convert(value) ?? undefined }
}
