internal import CJavaScriptCore

extension JSValue {
    /// The property of that name; `undefined` if there is none.
    ///
    /// If a getter or setter throws, or the value itself is `undefined` or `null`, the context's handler is told and
    /// the result is `undefined`.
    public subscript(key: String) -> JSValue {
        get { home.reporting { () throws(JSError) in try property(key) } }
        set { home.reporting { () throws(JSError) in try setProperty(key, newValue) } }
    }

    /// The item at an index; `undefined` if there is none. A negative index is the name of a property, as in
    /// JavaScript.
    public subscript(index: Int) -> JSValue {
        get {
            home.reporting { () throws(JSError) in
                guard let position = Self.position(index) else { return try property("\(index)") }
                var exception: OpaquePointer?
                let item = JSObjectGetPropertyAtIndex(home.ref, try object(), position, &exception)
                return try home.value(item, or: exception)
            }
        }
        set {
            home.reporting { () throws(JSError) in
                guard let position = Self.position(index) else { return try setProperty("\(index)", newValue) }
                guard let value = home.accept(newValue) else { throw JSError.foreign }
                var exception: OpaquePointer?
                JSObjectSetPropertyAtIndex(home.ref, try object(), position, value, &exception)
                return try home.value(value, or: exception)
            }
        }
    }

    /// The property of that name: a string, a symbol, or a number. Like ``objectForKeyedSubscript(_:)``.
    public func forProperty(_ property: Any!) -> JSValue! { objectForKeyedSubscript(property) }

    /// Sets a property, like ``setObject(_:forKeyedSubscript:)``.
    public func setValue(_ value: Any!, forProperty property: Any!) { setObject(value, forKeyedSubscript: property) }

    /// Deletes a property, and returns whether it is gone. False if the value is not an object, the property is not
    /// configurable, or a proxy throws.
    @discardableResult
    public func deleteProperty(_ property: Any!) -> Bool {
        guard let key = try? home.convert(property), isObject else { return false }
        return JSObjectDeletePropertyForKey(home.ref, ref, key, nil)
    }

    /// Whether it has a property of that name, its own or an inherited one. False if it is not an object, or a proxy
    /// throws.
    public func hasProperty(_ property: Any!) -> Bool {
        guard let key = try? home.convert(property), isObject else { return false }
        return JSObjectHasPropertyForKey(home.ref, ref, key, nil)
    }

    /// Defines a property, as `Object.defineProperty(value, property, descriptor)` does: the descriptor is a dictionary
    /// with `value`, `get`, `set`, `writable`, `enumerable`, `configurable`. If that throws, the context's handler is
    /// told.
    public func defineProperty(_ property: Any!, descriptor: Any!) {
        let object: JSValue = home.globalObject["Object"]
        object.invokeMethod("defineProperty", withArguments: [self, property as Any, descriptor as Any])
    }

    /// The item at an index; `undefined` if there is none.
    public func atIndex(_ index: Int) -> JSValue! { self[index] }

    /// Sets the item at an index to any Swift value; an array grows as needed.
    public func setValue(_ value: Any!, at index: Int) {
        self[index] = JSValue(object: value, in: home)
    }

    /// The property of that name: a string, a symbol, or a number. `undefined` if there is none, and if reading it
    /// throws, which the context's handler is told.
    public func objectForKeyedSubscript(_ key: Any!) -> JSValue! {
        if let name = key as? String { return self[name] }
        return home.reporting { () throws(JSError) in
            let key = try home.convert(key)
            var exception: OpaquePointer?
            let value = JSObjectGetPropertyForKey(home.ref, try object(), key, &exception)
            return try home.value(value, or: exception)
        }
    }

    /// Sets a property, whose name is a string, a symbol, or a number, to any Swift value.
    ///
    /// A closure becomes a function of that name. If the value cannot be converted (it belongs to another machine, is
    /// nested deeper than 512 levels, or is a closure that cannot be called), the property keeps its value and the
    /// context's handler is told.
    public func setObject(_ object: Any!, forKeyedSubscript key: Any!) {
        home.reporting { () throws(JSError) in
            let value = try home.convert(object, name: key as? String ?? "")
            let key = try home.convert(key)
            var exception: OpaquePointer?
            JSObjectSetPropertyForKey(home.ref, try self.object(), key, value, 0, &exception)
            return try home.value(value, or: exception)
        }
    }

    /// The item at an index, as `value[index]` gives it.
    public func objectAtIndexedSubscript(_ index: Int) -> JSValue! { self[index] }

    /// Sets the item at an index, like ``setValue(_:at:)``.
    public func setObject(_ object: Any!, atIndexedSubscript index: Int) { setValue(object, at: index) }

    /// An index that an array may have; every other number is the name of a property.
    private static func position(_ index: Int) -> UInt32? {
        UInt32(exactly: index).flatMap { $0 == .max ? nil : $0 }
    }

    /// The value as an object; a string or a number is wrapped, as in JavaScript.
    private func object() throws(JSError) -> OpaquePointer {
        var exception: OpaquePointer?
        guard let object = JSValueToObject(home.ref, ref, &exception) else { throw home.error(exception) }
        return object
    }

    func property(_ key: String) throws(JSError) -> JSValue {
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
