internal import CJavaScriptCore

extension JSValue {
    /// Calls the value as a function, with the global object as `this` and any Swift values as arguments. If it throws
    /// or is not a function, the context's handler is told and the result is `undefined`.
    @discardableResult
    public func call(withArguments arguments: [Any]!) -> JSValue! {
        home.reporting { () throws(JSError) in try call(arguments ?? []) }
    }

    /// Makes an object, as `new value(…)` does. If that throws or the value is not a constructor, the context's handler
    /// is told and the result is `undefined`.
    @discardableResult
    public func construct(withArguments arguments: [Any]!) -> JSValue! {
        home.reporting { () throws(JSError) in
            guard isObject, JSObjectIsConstructor(home.ref, ref) else { throw notCallable("constructor") }
            return try withRefs(arguments ?? []) { refs throws(JSError) in
                var exception: OpaquePointer?
                let object = JSObjectCallAsConstructor(home.ref, ref, refs.count, refs.baseAddress, &exception)
                return try home.value(object, or: exception)
            }
        }
    }

    /// Calls a method, as `value.method(…)` does. If that throws or there is no such method, the context's handler is
    /// told and the result is `undefined`.
    @discardableResult
    public func invokeMethod(_ method: String!, withArguments arguments: [Any]!) -> JSValue! {
        home.reporting { () throws(JSError) in try self[method ?? ""].call(arguments ?? [], on: self) }
    }

    /// Calls the value as a function. Throws what it throws, and a `TypeError` if it is not a function.
    /// - Parameters:
    ///   - arguments: any Swift values; one that cannot be converted is thrown as an error.
    ///   - this: the object of the call; nil: the global object.
    @discardableResult
    public func call(_ arguments: [Any], on this: JSValue? = nil) throws(JSError) -> JSValue {
        try withRefs(arguments) { refs throws(JSError) in try home.value(call(refs, on: this), or: nil) }
    }

    /// Calls the value as a function with Swift values of known types: the fastest way.
    @discardableResult
    public func callAsFunction<each Argument: JSConvertible>(
        _ arguments: repeat each Argument
    ) throws(JSError) -> JSValue {
        try home.value(ref(calledWith: repeat each arguments), or: nil)
    }

    /// Calls the value as a function, and reads its result without making a ``JSValue``. Throws a ``JSConversionError``
    /// if the result has another type.
    public func callAsFunction<each Argument: JSConvertible, Result: JSConvertible>(
        _ arguments: repeat each Argument,
        returning type: Result.Type
    ) throws -> Result {
        try Result.from(ref(calledWith: repeat each arguments), in: home.ref)
    }

    private func ref<each Argument: JSConvertible>(
        calledWith arguments: repeat each Argument
    ) throws(JSError) -> OpaquePointer? {
        var count = 0
        for _ in repeat (each Argument).self { count += 1 }
        // The garbage collector scans this thread's stack, where the buffer is, but not a Swift array.
        let result = withUnsafeTemporaryAllocation(of: OpaquePointer?.self, capacity: max(count, 1)) { buffer in
            var index = 0
            for argument in repeat each arguments {
                buffer.initializeElement(at: index, to: argument.toRef(in: home.ref))
                index += 1
            }
            return Swift.Result<OpaquePointer?, JSError> { () throws(JSError) in
                try call(UnsafeBufferPointer(rebasing: buffer[..<count]), on: nil)
            }
        }
        return try result.get()
    }

    private func call(
        _ refs: UnsafeBufferPointer<OpaquePointer?>,
        on this: JSValue?
    ) throws(JSError) -> OpaquePointer? {
        guard isObject else { throw notCallable("function") }
        home.machine.releaseQueue.empty()
        var exception: OpaquePointer?
        let result = JSObjectCallAsFunction(home.ref, ref, this?.ref, refs.count, refs.baseAddress, &exception)
        if let result, exception == nil { return result }
        throw exception == nil && !isFunction ? notCallable("function") : home.error(exception)
    }

    private func notCallable(_ what: String) -> JSError {
        JSError(JSArgumentError("\(description) is not \(what.withArticle)").jsError(in: home))
    }

    /// Above this number the arguments would not be on the stack, where the garbage collector looks.
    private static let stackCount = 64

    /// Calls `body` with the arguments as the library's values.
    private func withRefs(
        _ arguments: [Any],
        _ body: (UnsafeBufferPointer<OpaquePointer?>) throws(JSError) -> JSValue
    ) throws(JSError) -> JSValue {
        let count = arguments.count
        let isOnStack = count <= Self.stackCount
        let result = withUnsafeTemporaryAllocation(of: OpaquePointer?.self, capacity: max(count, 1)) { buffer in
            var made = 0
            defer { if !isOnStack { for index in 0..<made { JSValueUnprotect(home.ref, buffer[index]) } } }
            for index in 0..<count {
                do throws(JSError) {
                    let ref = try home.convert(arguments[index])
                    if !isOnStack { JSValueProtect(home.ref, ref) }
                    buffer.initializeElement(at: index, to: ref)
                    made += 1
                } catch {
                    return Result<JSValue, JSError>.failure(error)
                }
            }
            return Result { () throws(JSError) in try body(UnsafeBufferPointer(rebasing: buffer[..<count])) }
        }
        return try result.get()
    }
}
