internal import CJavaScriptCore

extension JSValue {
    /// The property of that name; `undefined` where there is none, or where reading it throws.
    public subscript(key: String) -> JSValue {
        get { home.reporting { () throws(JSError) in try property(key) } }
        set { home.reporting { () throws(JSError) in try setProperty(key, newValue) } }
    }

    /// The item at an index.
    public subscript(index: Int) -> JSValue {
        get {
            home.reporting { () throws(JSError) in
                var exception: OpaquePointer?
                let item = JSObjectGetPropertyAtIndex(home.ref, try object(), UInt32(clamping: index), &exception)
                return try home.value(item, or: exception)
            }
        }
        set {
            home.reporting { () throws(JSError) in
                guard let value = home.accept(newValue) else { throw JSError.foreign }
                var exception: OpaquePointer?
                JSObjectSetPropertyAtIndex(home.ref, try object(), UInt32(clamping: index), value, &exception)
                return try home.value(value, or: exception)
            }
        }
    }

    /// The property of that name.
    public func forProperty(_ property: Any!) -> JSValue! { objectForKeyedSubscript(property) }

    /// Sets a property.
    public func setValue(_ value: Any!, forProperty property: Any!) { setObject(value, forKeyedSubscript: property) }

    /// Deletes a property, and says whether it is gone.
    @discardableResult
    public func deleteProperty(_ property: Any!) -> Bool {
        guard let key = home.convert(property), isObject else { return false }
        return JSObjectDeletePropertyForKey(home.ref, ref, key, nil)
    }

    public func hasProperty(_ property: Any!) -> Bool {
        guard let key = home.convert(property), isObject else { return false }
        return JSObjectHasPropertyForKey(home.ref, ref, key, nil)
    }

    /// `Object.defineProperty(value, property, descriptor)`
    public func defineProperty(_ property: Any!, descriptor: Any!) {
        let object: JSValue = home.globalObject["Object"]
        object.invokeMethod("defineProperty", withArguments: [self, property as Any, descriptor as Any])
    }

    /// The item at an index.
    public func atIndex(_ index: Int) -> JSValue! { self[index] }

    /// Sets the item at an index.
    public func setValue(_ value: Any!, at index: Int) {
        self[index] = JSValue(object: value, in: home)
    }

    /// The property of that name: a string, a symbol, or a number.
    public func objectForKeyedSubscript(_ key: Any!) -> JSValue! {
        if let name = key as? String { return self[name] }
        return home.reporting { () throws(JSError) in
            guard let key = home.convert(key) else { throw JSError.foreign }
            var exception: OpaquePointer?
            let value = JSObjectGetPropertyForKey(home.ref, try object(), key, &exception)
            return try home.value(value, or: exception)
        }
    }

    /// Sets a property: its name is a string, a symbol, or a number.
    public func setObject(_ object: Any!, forKeyedSubscript key: Any!) {
        home.reporting { () throws(JSError) in
            guard let key = home.convert(key), let value = home.convert(object) else { throw JSError.foreign }
            var exception: OpaquePointer?
            JSObjectSetPropertyForKey(home.ref, try self.object(), key, value, 0, &exception)
            return try home.value(value, or: exception)
        }
    }

    public func objectAtIndexedSubscript(_ index: Int) -> JSValue! { self[index] }

    public func setObject(_ object: Any!, atIndexedSubscript index: Int) { setValue(object, at: index) }

    /// The names of the enumerable properties, its own and inherited ones, in their order.
    public var propertyNames: [String] {
        guard isObject, let names = JSObjectCopyPropertyNames(home.ref, ref) else { return [] }
        defer { JSPropertyNameArrayRelease(names) }
        return (0..<JSPropertyNameArrayGetCount(names)).compactMap { index in
            JSPropertyNameArrayGetNameAtIndex(names, index).map(Text.read)
        }
    }

    private var home: JSContext { context }

    /// The value as an object, as JavaScript makes one of a string or a number.
    private func object() throws(JSError) -> OpaquePointer {
        var exception: OpaquePointer?
        guard let object = JSValueToObject(home.ref, ref, &exception) else { throw home.error(exception) }
        return object
    }

    private func property(_ key: String) throws(JSError) -> JSValue {
        let object = try object()
        var exception: OpaquePointer?
        let value = Text.with(key) { JSObjectGetProperty(home.ref, object, $0, &exception) }
        return try home.value(value, or: exception)
    }

    private func setProperty(_ key: String, _ value: JSValue) throws(JSError) -> JSValue {
        guard let value = home.accept(value) else { throw JSError.foreign }
        let object = try object()
        var exception: OpaquePointer?
        Text.with(key) { JSObjectSetProperty(home.ref, object, $0, value, 0, &exception) }
        return try home.value(value, or: exception)
    }
}
