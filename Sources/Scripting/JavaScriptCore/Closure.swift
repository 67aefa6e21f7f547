internal import CJavaScriptCore

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
        guard let value = object as? Value else { throw Self.unreadable(Value.self) }
        return value
    }

    /// What `undefined` becomes for a type: nil, if the type can hold it.
    private static func nothing<Value>(_ type: Value.Type) -> Any {
        (type as? any OptionalValue.Type)?.nothing ?? ForeignValues.null
    }

    private static func unreadable<Value>(_ type: Value.Type) -> JSConversionError {
        JSConversionError(expected: "\(type)")
    }
}

extension NativeFrame {
    /// The result of a closure, of any type.
    func answer(_ value: Any?) throws -> OpaquePointer? { try context?.convert(value) ?? undefined }
}
