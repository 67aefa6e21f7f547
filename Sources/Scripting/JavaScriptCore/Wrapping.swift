internal import CJavaScriptCore

/// A Swift object, as kept by its JavaScript wrapper.
final class ObjectBox: @unchecked Sendable {
    // Sendable because it is immutable; the object is used by JavaScript, which runs on one thread at a time.
    let object: AnyObject
    private let releaseQueue: ReleaseQueue

    init(_ object: AnyObject, _ releaseQueue: ReleaseQueue) {
        self.object = object
        self.releaseQueue = releaseQueue
    }

    func releaseLater() { releaseQueue.releaseLater(self) }

    /// The box of a wrapper; nil for every other value.
    static func of(_ ref: OpaquePointer?, in context: OpaquePointer) -> ObjectBox? {
        guard let type = NativeClass.object.ref, JSValueIsObjectOfClass(context, ref, type),
            let data = JSObjectGetPrivate(ref)
        else {
            return nil
        }
        return Unmanaged<ObjectBox>.fromOpaque(data).takeUnretainedValue()
    }
}

/// A Swift value without exports: JavaScript can only keep it and pass it back.
final class OpaqueObject: JSExport {
    static let jsExports = JSExports("NativeObject")
    let value: Any

    init(_ value: Any) { self.value = value }

    static func of(_ value: Any) -> any JSExport { OpaqueObject(value) }
}

extension JSContext {
    /// The wrapper of an object in this context.
    func wrap(_ object: any JSExport) -> OpaquePointer? {
        machine.objectSupport().wrapper(of: object) {
            let box = Unmanaged.passRetained(ObjectBox(object, machine.releaseQueue))
            guard let type = NativeClass.object.ref, let wrapper = JSObjectMake(ref, type, box.toOpaque()) else {
                box.release()
                return nil
            }
            JSObjectSetPrototype(ref, wrapper, prototype(of: Swift.type(of: object)).ref)
            return wrapper
        }
    }

    /// The constructor of an exported class: `new Name(…)`, and its class methods. Set it as a global to let
    /// JavaScript make objects.
    public func constructor(of type: any JSExport.Type) -> JSValue { prototype(of: type)["constructor"] }

    private func prototype(of type: any JSExport.Type) -> JSValue {
        let exports = exports(of: type)
        return prototype(of: exports) { makePrototype(exports) }
    }

    private func makePrototype(_ exports: JSExports) -> JSValue {
        let prototype: JSValue = JSValue(newObjectIn: self)
        if let parent = exports.parent, !isItsOwnAncestor(exports) {
            JSObjectSetPrototype(ref, prototype.ref, self.prototype(of: parent).ref)
        }
        let constructor = JSValue(
            NativeFunction.make(exports.name, in: self, construct: exports.construct) { _ in
                throw JSArgumentError("\(exports.name) is a class: write «new \(exports.name)(…)»")
            },
            in: self
        )
        for method in exports.classMethods { define(method, on: constructor) }
        for method in exports.methods { define(method, on: prototype) }
        for property in exports.properties { define(property, on: prototype) }
        setHidden("constructor", constructor, of: prototype)
        setHidden("prototype", prototype, of: constructor)
        return prototype
    }

    /// Whether the classes that it extends form a circle, by mistake.
    private func isItsOwnAncestor(_ exports: JSExports) -> Bool {
        var seen: Set<ObjectIdentifier> = []
        var parent = exports.parent
        while let type = parent, seen.insert(ObjectIdentifier(type)).inserted {
            let ancestor = self.exports(of: type)
            if ancestor === exports { return true }
            parent = ancestor.parent
        }
        return false
    }

    private func define(_ method: JSExports.Method, on object: JSValue) {
        setHidden(method.name, JSValue(NativeFunction.make(method.name, in: self, method.body), in: self), of: object)
    }

    private func define(_ property: JSExports.Property, on object: JSValue) {
        let descriptor: JSValue = JSValue(newObjectIn: self)
        descriptor["get"] = JSValue(NativeFunction.make(property.name, in: self, property.get), in: self)
        if let set = property.set {
            descriptor["set"] = JSValue(NativeFunction.make(property.name, in: self, set), in: self)
        }
        descriptor["enumerable"] = JSValue(bool: true, in: self)
        descriptor["configurable"] = JSValue(bool: true, in: self)
        object.defineProperty(property.name, descriptor: descriptor)
    }

    private func setHidden(_ name: String, _ value: JSValue, of object: JSValue) {
        define(name, as: value.ref, on: object.ref)
    }

    /// Defines a property that is not enumerable. An assignment would not work if a prototype has a property of that
    /// name.
    func define(_ name: String, as value: OpaquePointer?, on object: OpaquePointer?) {
        let descriptor: JSValue = JSValue(newObjectIn: self)
        descriptor["value"] = JSValue(value, in: self)
        descriptor["configurable"] = JSValue(bool: true, in: self)
        JSValue(object, in: self).defineProperty(name, descriptor: descriptor)
    }
}
