internal import CJavaScriptCore
internal import Foundation

extension JSContext {
    /// The library's value for a value of this machine; nil for one of another.
    func accept(_ value: JSValue) -> OpaquePointer? {
        value.context.machine === machine ? value.ref : nil
    }

    /// The library's value for any Swift value; nil where it is, or holds, a value of another machine.
    func convert(_ value: Any?) -> OpaquePointer? {
        guard let value else { return JSValueMakeUndefined(ref) }
        return convertSimple(value) ?? convertOther(value)
    }

    /// The types that most arguments have. Comparing types costs much less than casting to one after the other.
    private func convertSimple(_ value: Any) -> OpaquePointer? {
        let type = type(of: value)
        if type == Int.self { return (value as? Int)?.toRef(in: ref) }
        if type == Double.self { return (value as? Double)?.toRef(in: ref) }
        if type == String.self { return (value as? String)?.toRef(in: ref) }
        if type == Bool.self { return (value as? Bool)?.toRef(in: ref) }
        return nil
    }

    private func convertOther(_ value: Any) -> OpaquePointer? {
        switch value {
        case let value as JSValue: return accept(value)
        case let value as JSManagedValue: return value.value.map(accept) ?? JSValueMakeUndefined(ref)
        case is NSNull: return JSValueMakeNull(ref)
        case let value as NSNumber: return number(value)
        case let value as any JSExport: return wrap(value)
        case let values as [Any]: return array(values)
        case let members as [AnyHashable: Any]: return object(members)
        case let value as any JSConvertible: return value.toRef(in: ref)
        case let function as () -> Void: return JSValue(newFunctionIn: self) { function() }.ref
        case let value as any OptionalValue: return convert(value.wrapped)
        default: return wrap(OpaqueObject.of(value))
        }
    }

    private func number(_ value: NSNumber) -> OpaquePointer? {
        // A boolean's type is `c`, a char, and an Int8's too: those two cannot be told apart by it.
        value === NSNumber(value: true) || value === NSNumber(value: false)
            ? value.boolValue.toRef(in: ref) : value.doubleValue.toRef(in: ref)
    }

    private func array(_ values: [Any]) -> OpaquePointer? {
        let array: JSValue = JSValue(newArrayIn: self)
        for (index, value) in values.enumerated() {
            guard let item = convert(value) else { return nil }
            JSObjectSetPropertyAtIndex(ref, array.ref, UInt32(index), item, nil)
        }
        return array.ref
    }

    private func object(_ members: [AnyHashable: Any]) -> OpaquePointer? {
        let object: JSValue = JSValue(newObjectIn: self)
        for (name, value) in members {
            guard let member = convert(value) else { return nil }
            Text.with("\(name.base)") { JSObjectSetProperty(ref, object.ref, $0, member, 0, nil) }
        }
        return object.ref
    }
}

/// An optional inside of `Any`.
private protocol OptionalValue {
    var wrapped: Any? { get }
}

extension Optional: OptionalValue {
    fileprivate var wrapped: Any? { self }
}
