internal import CJavaScriptCore
internal import Foundation

extension JSValue {
    /// A value for a Swift value, as the table in docs/javascriptcore.md says. What belongs to another machine is an error: the context's
    /// handler is told, and the value is `undefined`.
    public convenience init!(object: Any!, in context: JSContext!) {
        guard let context else { return nil }
        let value = context.reporting { () throws(JSError) in JSValue(try context.convert(object), in: context) }
        self.init(value.ref, in: context)
    }

    public convenience init!(bool value: Bool, in context: JSContext!) {
        guard let context else { return nil }
        self.init(JSValueMakeBoolean(context.ref, value), in: context)
    }

    public convenience init!(double value: Double, in context: JSContext!) {
        guard let context else { return nil }
        self.init(JSValueMakeNumber(context.ref, value), in: context)
    }

    public convenience init!(int32 value: Int32, in context: JSContext!) {
        guard let context else { return nil }
        self.init(JSValueMakeNumber(context.ref, Double(value)), in: context)
    }

    public convenience init!(uInt32 value: UInt32, in context: JSContext!) {
        guard let context else { return nil }
        self.init(JSValueMakeNumber(context.ref, Double(value)), in: context)
    }

    public convenience init!(nullIn context: JSContext!) {
        guard let context else { return nil }
        self.init(JSValueMakeNull(context.ref), in: context)
    }

    public convenience init!(undefinedIn context: JSContext!) {
        guard let context else { return nil }
        self.init(JSValueMakeUndefined(context.ref), in: context)
    }

    /// `{}`
    public convenience init!(newObjectIn context: JSContext!) {
        guard let context else { return nil }
        self.init(JSObjectMake(context.ref, nil, nil), in: context)
    }

    /// `[]`
    public convenience init!(newArrayIn context: JSContext!) {
        guard let context else { return nil }
        self.init(JSObjectMakeArray(context.ref, 0, nil, nil), in: context)
    }

    /// `new RegExp(pattern, flags)`; `undefined`, and the handler is told, where that throws.
    public convenience init!(
        newRegularExpressionFromPattern pattern: String!,
        flags: String!,
        in context: JSContext!
    ) {
        guard let context else { return nil }
        let value = context["RegExp"].construct(withArguments: [pattern ?? "", flags ?? ""])
        self.init(value?.ref, in: context)
    }

    /// `new Error(message)`
    public convenience init!(newErrorFromMessage message: String!, in context: JSContext!) {
        guard let context else { return nil }
        self.init(context.makeError(message ?? "").ref, in: context)
    }

    /// `Symbol(description)`
    public convenience init!(newSymbolFromDescription description: String!, in context: JSContext!) {
        guard let context else { return nil }
        self.init(Text.with(description ?? "") { JSValueMakeSymbol(context.ref, $0) }, in: context)
    }

    /// A promise. `executor` is called at once with the two functions that settle it.
    public convenience init!(
        newPromiseIn context: JSContext!,
        fromExecutor executor: ((JSValue?, JSValue?) -> Void)!
    ) {
        guard let context else { return nil }
        var resolve: OpaquePointer?
        var reject: OpaquePointer?
        let promise = JSObjectMakeDeferredPromise(context.ref, &resolve, &reject, nil)
        executor?(JSValue(resolve, in: context), JSValue(reject, in: context))
        self.init(promise, in: context)
    }

    /// A promise that has its value already.
    public convenience init!(newPromiseResolvedWithResult result: Any!, in context: JSContext!) {
        self.init(newPromiseIn: context) { resolve, _ in _ = resolve?.call(withArguments: [result as Any]) }
    }

    /// A promise that has failed already.
    public convenience init!(newPromiseRejectedWithReason reason: Any!, in context: JSContext!) {
        self.init(newPromiseIn: context) { _, reject in _ = reject?.call(withArguments: [reason as Any]) }
    }

    /// A JavaScript function that runs Swift. What it throws, JavaScript sees as an exception.
    public convenience init<each Argument: JSConvertible, Result: JSConvertible>(
        newFunctionIn context: JSContext,
        name: String = "",
        _ function: @escaping (repeat each Argument) throws -> Result
    ) {
        let ref = NativeFunction.make(name, in: context) { frame in
            var arguments = ArgumentReader(frame)
            return try function(repeat try arguments.next((each Argument).self)).toRef(in: frame.ref)
        }
        self.init(ref, in: context)
    }

    /// A JavaScript function that runs Swift and answers `undefined`.
    public convenience init<each Argument: JSConvertible>(
        newFunctionIn context: JSContext,
        name: String = "",
        _ function: @escaping (repeat each Argument) throws -> Void
    ) {
        let ref = NativeFunction.make(name, in: context) { frame in
            var arguments = ArgumentReader(frame)
            try function(repeat try arguments.next((each Argument).self))
            return frame.undefined
        }
        self.init(ref, in: context)
    }
}

extension JSError {
    static let foreign = JSError(message: "a value of one JSVirtualMachine cannot be used in another")
}

/// Takes the arguments of a call one after the other.
struct ArgumentReader {
    private let frame: NativeFrame
    private var index = 0

    init(_ frame: NativeFrame) { self.frame = frame }

    @inline(__always)
    mutating func next<Value: JSConvertible>(_ type: Value.Type) throws -> Value { try next(Value.from) }

    @inline(__always)
    mutating func next<Value>(_ read: (OpaquePointer?, OpaquePointer) throws -> Value) throws -> Value {
        let ref = frame.argument(index)
        index += 1
        do {
            return try read(ref, frame.ref)
        } catch let error as JSConversionError {
            throw JSArgumentError("argument \(index) is no \(error.expected)")
        }
    }
}
