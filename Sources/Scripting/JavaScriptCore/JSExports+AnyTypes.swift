internal import CJavaScriptCore

/// Exports of types that no conversion names: `Any`, `[Any]`, `[String: Any]`, `Any?`, objects that export nothing. They are
/// converted by what they are at run time, as ``JSValue/toObject()`` reads them and ``JSContext/setObject(_:forKeyedSubscript:)``
/// writes them.
extension JSExports {
    /// A property that JavaScript may read and set.
    public func property<Object: JSExport, Value>(
        _ name: String,
        _ path: ReferenceWritableKeyPath<Object, Value>
    ) -> JSExports {
        let get: Body = { frame in try frame.answer(Self.target(frame, name, Object.self)[keyPath: path]) }
        let set: Body = { frame in
            var next = ArgumentReader(frame)
            try Self.target(frame, name, Object.self)[keyPath: path] = next()
            return frame.undefined
        }
        return add(Property(name: ExportedName.of(name), get: get, set: set))
    }

    /// A property that JavaScript may only read.
    public func property<Object: JSExport, Value>(
        readOnly name: String,
        _ get: @escaping (Object) throws -> Value
    ) -> JSExports {
        let body: Body = { frame in try frame.answer(get(Self.target(frame, name, Object.self))) }
        return add(Property(name: ExportedName.of(name), get: body, set: nil))
    }

    /// A method. `name` may have labels: `fade(to:in:)` is `fadeToIn` in JavaScript.
    public func method<Object: JSExport, each Argument, Result>(
        _ name: String,
        _ method: @escaping (Object) -> (repeat each Argument) throws -> Result
    ) -> JSExports {
        add(name) { frame in
            var next = ArgumentReader(frame)
            let object = try Self.target(frame, name, Object.self)
            return try frame.answer(method(object)(repeat try next.take((each Argument).self)))
        }
    }

    /// A method of the class, which JavaScript calls on its constructor: `Name.method()`.
    public func classMethod<each Argument, Result>(
        _ name: String,
        _ function: @escaping (repeat each Argument) throws -> Result
    ) -> JSExports {
        addClassMethod(name) { frame in
            var next = ArgumentReader(frame)
            return try frame.answer(function(repeat try next.take((each Argument).self)))
        }
    }

    /// What `new Name(…)` runs: it returns the Swift object, or throws.
    public func constructor<each Argument, Object: JSExport>(
        _ make: @escaping (repeat each Argument) throws -> Object
    ) -> JSExports {
        constructing { frame in
            var next = ArgumentReader(frame)
            return frame.context?.wrap(try make(repeat try next.take((each Argument).self)))
        }
    }
}

extension ArgumentReader {
    fileprivate mutating func take<Value>(_ type: Value.Type) throws -> Value { try self() }
}
