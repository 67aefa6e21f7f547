internal import CJavaScriptCore

/// The library's two classes for Swift things: functions and objects.
final class NativeClass: @unchecked Sendable {
    // Sendable because a class of the library is immutable, and its reference count is atomic.
    let ref: OpaquePointer?

    private init(_ definition: JSClassDefinition) {
        var definition = definition
        ref = JSClassCreate(&definition)
    }

    static let function: NativeClass = {
        var definition = kJSClassDefinitionEmpty
        definition.attributes = JSClassAttributes(kJSClassAttributeNoAutomaticPrototype)
        definition.callAsFunction = NativeFunction.call
        definition.callAsConstructor = NativeFunction.construct
        definition.hasInstance = NativeFunction.hasInstance
        definition.finalize = { object in
            guard let box = JSObjectGetPrivate(object) else { return }
            let function = Unmanaged<FunctionBox>.fromOpaque(box)
            function.takeUnretainedValue().releaseLater()
            function.release()
        }
        return "Function".withCString { name in
            definition.className = name
            return NativeClass(definition)
        }
    }()

    static let object: NativeClass = {
        var definition = kJSClassDefinitionEmpty
        definition.attributes = JSClassAttributes(kJSClassAttributeNoAutomaticPrototype)
        definition.finalize = { object in
            guard let box = JSObjectGetPrivate(object) else { return }
            let wrapped = Unmanaged<ObjectBox>.fromOpaque(box)
            wrapped.takeUnretainedValue().releaseLater()
            wrapped.release()
        }
        return "NativeObject".withCString { name in
            definition.className = name
            return NativeClass(definition)
        }
    }()
}
