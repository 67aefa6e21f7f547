internal import CJavaScriptCore

/// A Swift class whose objects JavaScript may use: their properties and methods, and the class's constructor and
/// methods.
///
///     final class Lamp: JSExport {
///         var level = 0.0 { didSet { light(level) } }
///         func fade(to level: Double, in seconds: Double) { … }
///
///         static let jsExports = JSExports("Lamp")
///             .constructor { Lamp() }
///             .property("level", \Lamp.level)
///             .method("fade(to:in:)", Lamp.fade)
///     }
///
/// JavaScript's wrapper keeps the Swift object alive; an object has the same wrapper as long as JavaScript holds it.
/// Only what is listed is visible. When JavaScript sets a property, its `willSet` and `didSet` run.
public protocol JSExport: AnyObject, JSConvertible {
    /// What JavaScript sees of the class. Made once.
    static var jsExports: JSExports { get }
}

extension JSExport {
    /// The wrapper of the object: the same one as long as JavaScript holds it.
    public func toJSValue(in context: JSContext) -> JSValue { JSValue(context.wrap(self), in: context) }

    /// The object of a wrapper. Throws a ``JSConversionError`` if the value is not one of this class.
    public static func fromJSValue(_ value: JSValue) throws -> Self {
        guard let object = ObjectBox.of(value.ref, in: value.context.ref)?.object as? Self else {
            throw JSConversionError(expected: "\(Self.jsExports.name)")
        }
        return object
    }
}

/// How an exported name is formed: a Swift name with its labels becomes one word, each label with a capital letter, as
/// Apple's framework does with a selector. `fade(to:in:)` is `fadeToIn`, `value(_:)` and `value` are `value`.
enum ExportedName {
    static func of(_ swiftName: String) -> String {
        guard let parenthesis = swiftName.firstIndex(of: "(") else { return swiftName }
        let labels = swiftName[parenthesis...].dropFirst().prefix { $0 != ")" }.split(separator: ":")
        return labels.filter { $0 != "_" }.reduce(into: String(swiftName[..<parenthesis])) { name, label in
            name += label.prefix(1).uppercased() + label.dropFirst()
        }
    }
}

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
