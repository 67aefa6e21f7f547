internal import CJavaScriptCore

/// What JavaScript sees of a class, and under which names. See ``JSExport``.
public final class JSExports: @unchecked Sendable {
    // Sendable because it is immutable once it is made.
    typealias Body = FunctionBox.Body

    struct Property {
        var name: String
        var get: Body
        var set: Body?
    }

    struct Method {
        var name: String
        var body: Body
    }

    /// The class's name in JavaScript.
    public let name: String
    let parent: (any JSExport.Type)?
    private(set) var properties: [Property] = []
    private(set) var methods: [Method] = []
    private(set) var classMethods: [Method] = []
    private(set) var construct: Body?

    /// A class without exports. The functions add to it, and each returns it.
    /// - Parameters:
    ///   - name: the class's name in JavaScript.
    ///   - parent: an exported superclass, both in Swift and in JavaScript. Classes that extend each other in a circle
    ///     have none.
    public init(_ name: String, extending parent: (any JSExport.Type)? = nil) {
        self.name = name
        self.parent = parent
    }

    /// What `new Name(…)` runs: it returns the Swift object, or throws. Without it, `new` throws a `TypeError`.
    public func constructor<each Argument: JSConvertible, Object: JSExport>(
        _ make: @escaping (repeat each Argument) throws -> Object
    ) -> JSExports {
        constructing { frame in
            var arguments = ArgumentReader(frame)
            return frame.context?.wrap(try make(repeat try arguments.next((each Argument).self)))
        }
    }

    /// A property that JavaScript may read and set. Setting it runs the Swift property's observers.
    public func property<Object: JSExport, Value: JSConvertible>(
        _ name: String,
        _ path: ReferenceWritableKeyPath<Object, Value>
    ) -> JSExports {
        let get: Body = { frame in
            try Self.target(frame, name, Object.self)[keyPath: path].toRef(in: frame.ref)
        }
        let set: Body = { frame in
            var arguments = ArgumentReader(frame)
            try Self.target(frame, name, Object.self)[keyPath: path] = arguments.next(Value.self)
            return frame.undefined
        }
        return add(Property(name: ExportedName.of(name), get: get, set: set))
    }

    /// A property that JavaScript may only read. Setting it changes nothing, and throws in strict code.
    public func property<Object: JSExport, Value: JSConvertible>(
        readOnly name: String,
        _ get: @escaping (Object) throws -> Value
    ) -> JSExports {
        let body: Body = { frame in try get(Self.target(frame, name, Object.self)).toRef(in: frame.ref) }
        return add(Property(name: ExportedName.of(name), get: body, set: nil))
    }

    /// A method. `name` may have labels: `fade(to:in:)` is `fadeToIn` in JavaScript.
    ///
    /// What it throws is an exception in JavaScript. An argument that cannot be read, or an object of another class,
    /// causes a `TypeError`.
    public func method<Object: JSExport, each Argument: JSConvertible, Result: JSConvertible>(
        _ name: String,
        _ method: @escaping (Object) -> (repeat each Argument) throws -> Result
    ) -> JSExports {
        add(name) { frame in
            var arguments = ArgumentReader(frame)
            let object = try Self.target(frame, name, Object.self)
            return try method(object)(repeat try arguments.next((each Argument).self)).toRef(in: frame.ref)
        }
    }

    /// A method without a result: JavaScript gets `undefined`.
    public func method<Object: JSExport, each Argument: JSConvertible>(
        _ name: String,
        _ method: @escaping (Object) -> (repeat each Argument) throws -> Void
    ) -> JSExports {
        add(name) { frame in
            var arguments = ArgumentReader(frame)
            let object = try Self.target(frame, name, Object.self)
            try method(object)(repeat try arguments.next((each Argument).self))
            return frame.undefined
        }
    }

    /// A method of the class, which JavaScript calls on its constructor: `Name.method()`.
    public func classMethod<each Argument: JSConvertible, Result: JSConvertible>(
        _ name: String,
        _ function: @escaping (repeat each Argument) throws -> Result
    ) -> JSExports {
        addClassMethod(name) { frame in
            var arguments = ArgumentReader(frame)
            return try function(repeat try arguments.next((each Argument).self)).toRef(in: frame.ref)
        }
    }

    func constructing(_ body: @escaping Body) -> JSExports {
        construct = body
        return self
    }

    func addClassMethod(_ name: String, _ body: @escaping Body) -> JSExports {
        classMethods.append(Method(name: ExportedName.of(name), body: body))
        return self
    }

    func add(_ property: Property) -> JSExports {
        properties.append(property)
        return self
    }

    func add(_ name: String, _ body: @escaping Body) -> JSExports {
        methods.append(Method(name: ExportedName.of(name), body: body))
        return self
    }

    /// The Swift object that a method or property was used on.
    static func target<Object: JSExport>(
        _ frame: NativeFrame,
        _ name: String,
        _ type: Object.Type
    ) throws -> Object {
        if let object = ObjectBox.of(frame.this, in: frame.ref)?.object as? Object { return object }
        let method = ExportedName.of(name)
        throw JSArgumentError("\(method) was used on something that is not \(type.jsExports.name.withArticle)")
    }
}
