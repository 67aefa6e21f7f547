internal import CJavaScriptCore

extension JSValue {
    /// The property of that name; `undefined` where there is none.
    ///
    /// Where a getter or setter throws, or the value is `undefined` or `null` itself, the context's handler is told, and
    /// what is read is `undefined`.
    public subscript(key: String) -> JSValue {
        get { home.reporting { () throws(JSError) in try property(key) } }
        set { home.reporting { () throws(JSError) in try setProperty(key, newValue) } }
    }

    /// The item at an index; `undefined` where there is none. A negative index is the name of a property, as in
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

    /// The property of that name: a string, a symbol, or a number. As ``objectForKeyedSubscript(_:)``.
    public func forProperty(_ property: Any!) -> JSValue! { objectForKeyedSubscript(property) }

    /// Sets a property, as ``setObject(_:forKeyedSubscript:)`` does.
    public func setValue(_ value: Any!, forProperty property: Any!) { setObject(value, forKeyedSubscript: property) }

    /// Deletes a property, and says whether it is gone. False for what is no object, for a property that is not
    /// configurable, and where a proxy throws.
    @discardableResult
    public func deleteProperty(_ property: Any!) -> Bool {
        guard let key = try? home.convert(property), isObject else { return false }
        return JSObjectDeletePropertyForKey(home.ref, ref, key, nil)
    }

    /// Whether it has a property of that name, its own or an inherited one. False for what is no object, and where a
    /// proxy throws.
    public func hasProperty(_ property: Any!) -> Bool {
        guard let key = try? home.convert(property), isObject else { return false }
        return JSObjectHasPropertyForKey(home.ref, ref, key, nil)
    }

    /// Defines a property, as `Object.defineProperty(value, property, descriptor)` does: the descriptor is a dictionary
    /// with `value`, `get`, `set`, `writable`, `enumerable`, `configurable`. Where that throws, the context's handler
    /// is told.
    public func defineProperty(_ property: Any!, descriptor: Any!) {
        let object: JSValue = home.globalObject["Object"]
        object.invokeMethod("defineProperty", withArguments: [self, property as Any, descriptor as Any])
    }

    /// The item at an index; `undefined` where there is none.
    public func atIndex(_ index: Int) -> JSValue! { self[index] }

    /// Sets the item at an index to any Swift value; an array grows as far as that.
    public func setValue(_ value: Any!, at index: Int) {
        self[index] = JSValue(object: value, in: home)
    }

    /// The property of that name: a string, a symbol, or a number. `undefined` where there is none; where reading it
    /// throws, that, and the context's handler is told.
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
    /// A closure becomes a function of that name. Where the value cannot be JavaScript's (of another machine, nested
    /// deeper than 512 levels, a closure that cannot be called) the property stays as it is, and the context's handler
    /// is told.
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

    /// Sets the item at an index, as ``setValue(_:at:)`` does.
    public func setObject(_ object: Any!, atIndexedSubscript index: Int) { setValue(object, at: index) }

    /// The names of the enumerable properties, its own and inherited ones, in their order; none for what is no object.
    ///
    /// Where a proxy throws, or a typed array or `String` object has more than 1048576 indexes, the context's handler is
    /// told, and there are none.
    public var propertyNames: [String] {
        do throws(JSError) {
            return try names()
        } catch {
            home.report(error)
            return []
        }
    }

    /// The names of the enumerable properties. Throws what a proxy throws, and where they are too many.
    func names() throws(JSError) -> [String] {
        guard isObject else { return [] }
        if try hasIndexesBeyondTheLimit() { throw .tooLarge }
        guard let names = JSObjectCopyPropertyNames(home.ref, ref) else { return [] }
        defer { JSPropertyNameArrayRelease(names) }
        try home.throwPending()
        return (0..<JSPropertyNameArrayGetCount(names)).compactMap { index in
            JSPropertyNameArrayGetNameAtIndex(names, index).map(Text.read)
        }
    }

    /// Whether it is a typed array or a `String` object that is too long: these have a name for each index, and
    /// hardly any memory need stand behind them.
    private func hasIndexesBeyondTheLimit() throws(JSError) -> Bool {
        let index = JSValueMakeNumber(home.ref, Double(ValueReader.maximumItems))
        guard !isArray, JSObjectHasPropertyForKey(home.ref, ref, index, nil) else { return false }
        return try property("length").toDouble() > Double(ValueReader.maximumItems)
    }

    /// An index that an array may have; every other number is the name of a property.
    private static func position(_ index: Int) -> UInt32? {
        UInt32(exactly: index).flatMap { $0 == .max ? nil : $0 }
    }

    /// A property of an object. Nil where reading it throws, and nobody is told: an error whose own parts throw it would
    /// be told for ever.
    func peek(_ key: String) -> JSValue? {
        guard isObject else { return nil }
        return Text.with(key) { JSObjectGetProperty(home.ref, ref, $0, nil) }.map { JSValue($0, in: home) }
    }

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
