internal import CJavaScriptCore

extension JSValue {
    /// A JavaScript function that runs Swift.
    ///
    /// Each argument is converted to its type; a missing one is `undefined`, and one that cannot be converted causes a
    /// `TypeError` with its number. What the function throws is an exception in JavaScript. The closure and what it
    /// captures live as long as JavaScript can reach the function.
    /// - Parameters:
    ///   - context: the context in which it is made.
    ///   - name: its `name` in JavaScript, shown in backtraces.
    ///   - function: the closure, which runs on the thread that runs JavaScript.
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

    /// A JavaScript function that runs Swift and returns `undefined`. See ``init(newFunctionIn:name:_:)`` with a
    /// result.
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
            throw JSArgumentError("argument \(index) is not \(error.expected.withArticle)")
        }
    }
}
