internal import CJavaScriptCore

extension JSContext {
    /// The library's value for a value of this machine; nil for one of another.
    func accept(_ value: JSValue) -> OpaquePointer? {
        value.context.machine === machine ? value.ref : nil
    }

    /// The library's value for any Swift value. Throws if it is or contains a value of another machine or a closure
    /// that cannot be called, and if it is nested too deep. `name` is the name of the function that a closure becomes.
    func convert(_ value: Any?, name: String = "", depth: Int = 0) throws(JSError) -> OpaquePointer? {
        guard let value else { return JSValueMakeUndefined(ref) }
        if let simple = convertSimple(value) { return simple }
        if type(of: value) == JSValue.self, let value = value as? JSValue {
            guard let ref = accept(value) else { throw .foreign }
            return ref
        }
        if let closure = Closure(value) { return try closure.function(name, in: self) }
        if let container = try convertContainer(value, name, depth) { return container }
        return try convertOther(value)
    }

    /// The types of most arguments. Comparing types costs much less than a series of casts.
    private func convertSimple(_ value: Any) -> OpaquePointer? {
        let type = type(of: value)
        if type == Int.self { return (value as? Int)?.toRef(in: ref) }
        if type == Double.self { return (value as? Double)?.toRef(in: ref) }
        if type == String.self { return (value as? String)?.toRef(in: ref) }
        if type == Bool.self { return (value as? Bool)?.toRef(in: ref) }
        return nil
    }

    /// Arrays, dictionaries, optionals. Checked before the classes, because a cast to a class would go through the
    /// whole container, and again at each level.
    private func convertContainer(_ value: Any, _ name: String, _ depth: Int) throws(JSError) -> OpaquePointer? {
        switch value {
        case let values as [Any]: return try array(values, depth + 1)
        case let members as [AnyHashable: Any]: return try object(members, depth + 1)
        case let value as any OptionalValue: return try convert(value.wrapped, name: name, depth: depth)
        default: return nil
        }
    }

    private func convertOther(_ value: Any) throws(JSError) -> OpaquePointer? {
        if let foreign = ForeignValues.convert(value, in: ref) { return foreign }
        switch value {
        case let value as JSManagedValue: return try convert(value.value)
        case let value as any JSExport: return wrap(value)
        case let type as any JSExport.Type: return constructor(of: type).ref
        case let value as any JSConvertible: return value.toRef(in: ref)
        case is Void: return JSValueMakeUndefined(ref)
        default: return wrap(OpaqueObject.of(value))
        }
    }

    private func array(_ values: [Any], _ depth: Int) throws(JSError) -> OpaquePointer? {
        guard depth <= JSValueReader.maximumDepth else { throw .tooDeep }
        let array = JSValue(JSObjectMakeArray(ref, 0, nil, nil), in: self)
        for (index, value) in values.enumerated() {
            let item = try convert(value, depth: depth)
            JSObjectSetPropertyAtIndex(ref, array.ref, UInt32(clamping: index), item, nil)
        }
        return array.ref
    }

    private func object(_ members: [AnyHashable: Any], _ depth: Int) throws(JSError) -> OpaquePointer? {
        guard depth <= JSValueReader.maximumDepth else { throw .tooDeep }
        let object = JSValue(JSObjectMake(ref, nil, nil), in: self)
        for (key, value) in members {
            let name = "\(key.base)"
            let member = try convert(value, name: name, depth: depth)
            Text.with(name) { JSObjectSetProperty(ref, object.ref, $0, member, 0, nil) }
        }
        return object.ref
    }
}

/// An optional inside an `Any`.
protocol OptionalValue {
    var wrapped: Any? { get }
    static var nothing: Any { get }
}

extension Optional: OptionalValue {
    var wrapped: Any? { self }
    static var nothing: Any { Self.none as Any }
}
