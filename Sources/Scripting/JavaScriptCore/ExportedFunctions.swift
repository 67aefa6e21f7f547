/// Plain closures: `context.setObject({ (a: Double) in a + 1 }, forKeyedSubscript: "next")`.
extension JSContext {
    /// Sets a global variable to a function of that name that runs Swift. See ``JSValue/init(newFunctionIn:name:_:)``.
    public func setObject<each Argument: JSConvertible, Result: JSConvertible>(
        _ function: @escaping (repeat each Argument) throws -> Result,
        forKeyedSubscript key: String
    ) {
        globalObject.setObject(function, forKeyedSubscript: key)
    }

    /// Sets a global variable to a function of that name that runs Swift and returns `undefined`.
    public func setObject<each Argument: JSConvertible>(
        _ function: @escaping (repeat each Argument) throws -> Void,
        forKeyedSubscript key: String
    ) {
        globalObject.setObject(function, forKeyedSubscript: key)
    }
}

extension JSValue {
    /// Sets a property to a function of that name that runs Swift. See ``init(newFunctionIn:name:_:)``.
    public func setObject<each Argument: JSConvertible, Result: JSConvertible>(
        _ function: @escaping (repeat each Argument) throws -> Result,
        forKeyedSubscript key: String
    ) {
        self[key] = JSValue(newFunctionIn: context, name: key, function)
    }

    /// Sets a property to a function of that name that runs Swift and returns `undefined`.
    public func setObject<each Argument: JSConvertible>(
        _ function: @escaping (repeat each Argument) throws -> Void,
        forKeyedSubscript key: String
    ) {
        self[key] = JSValue(newFunctionIn: context, name: key, function)
    }
}
