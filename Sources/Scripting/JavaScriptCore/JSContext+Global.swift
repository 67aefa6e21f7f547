internal import CJavaScriptCore

extension JSContext {
    /// The object whose properties are the global variables. Never nil.
    // swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
    public var globalObject: JSValue! { JSValue(JSContextGetGlobalObject(ref), in: self) }

    /// The global variable of that name; `undefined` if there is none.
    public func objectForKeyedSubscript(_ key: Any!) -> JSValue! { globalObject.objectForKeyedSubscript(key) }

    /// Sets a global variable to any Swift value. See ``JSValue/setObject(_:forKeyedSubscript:)``.
    public func setObject(_ object: Any!, forKeyedSubscript key: Any!) {
        globalObject.setObject(object, forKeyedSubscript: key)
    }

    /// The global variable of that name; `undefined` if there is none.
    public subscript(key: String) -> JSValue {
        get { globalObject[key] }
        set { globalObject[key] = newValue }
    }

    // MARK: For inspectors

    /// The name that debuggers show; nil sets an empty one.
    // swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
    public var name: String! {
        get { JSGlobalContextCopyName(ref).map(Text.take) }
        set { Text.with(newValue ?? "") { JSGlobalContextSetName(ref, $0) } }
    }

    /// Whether a Web Inspector may attach. Off by default.
    public var isInspectable: Bool {
        get { JSGlobalContextIsInspectable(ref) }
        set { JSGlobalContextSetInspectable(ref, newValue) }
    }
}
