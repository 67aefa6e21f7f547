internal import CJavaScriptCore

extension JSValue {
    /// As `Boolean(value)` gives it.
    public func toBool() -> Bool { JSValueToBoolean(home.ref, ref) }

    /// As `Number(value)` gives it; NaN if that throws.
    public func toDouble() -> Double { JSValueToNumber(home.ref, ref, nil) }

    /// As `value | 0` gives it: the lower 32 bits; 0 if it is not a number or that throws.
    public func toInt32() -> Int32 { JSValueToInt32(home.ref, ref, nil) }

    /// As `value >>> 0` gives it: the lower 32 bits; 0 if it is not a number or that throws.
    public func toUInt32() -> UInt32 { JSValueToUInt32(home.ref, ref, nil) }

    /// As `String(value)` gives it; nil if that throws, which the context's handler is told.
    public func toString() -> String! {
        var exception: OpaquePointer?
        if let string = JSValueToStringCopy(home.ref, ref, &exception) { return Text.take(string) }
        home.report(home.error(exception))
        return nil
    }

    /// An array's items, each as ``toObject()`` gives it; nil for `undefined` and `null`.
    ///
    /// If it is not an array, or exceeds the limits of ``toObject()``, the result is nil, too, and the context's
    /// handler is told.
    public func toArray() -> [Any]! {
        guard !isUndefined, !isNull else { return nil }
        guard isArray else { return refuse("array") }
        return reading { (reader: inout JSValueReader) throws(JSError) in try reader.items(self) }
    }

    /// An object's enumerable properties, its own and inherited ones, each as ``toObject()`` gives it; nil for
    /// `undefined` and `null`.
    ///
    /// If it is not an object, or exceeds the limits of ``toObject()``, the result is nil, too, and the context's
    /// handler is told.
    public func toDictionary() -> [AnyHashable: Any]! {
        guard !isUndefined, !isNull else { return nil }
        guard isObject else { return refuse("object") }
        return reading { (reader: inout JSValueReader) throws(JSError) in try reader.members(self) }
    }

    /// The Swift value: nil for `undefined`, `NSNull`, `NSNumber`, `String`, `Date`, `[Any]`, `[AnyHashable: Any]`, or
    /// the Swift object itself if it is an exported one. Without the trait `Foundation`, `null` is an empty optional, a
    /// number a `Double` or a `Bool`, and a date its milliseconds since 1970.
    ///
    /// A function, a symbol and a `BigInt` stay a ``JSValue``. In arrays and dictionaries, `undefined`, an invalid
    /// date, and a property whose getter throws become `NSNull`.
    ///
    /// If a value contains itself, the inner occurrence is an empty array or dictionary. If it is nested deeper than
    /// 512 levels, or has more than 1048576 items and properties in all, the result is nil and the context's handler is
    /// told. So a sparse array of great length costs neither time nor memory.
    public func toObject() -> Any! {
        reading { (reader: inout JSValueReader) throws(JSError) in try reader.object(self) }
    }

    /// Like ``toObject()``, if the result is of the class or a subclass; otherwise nil.
    public func toObjectOf(_ expectedClass: AnyClass!) -> Any! {
        guard let object = toObject() else { return nil }
        var current: AnyClass? = type(of: object) as? AnyClass
        while let candidate = current, candidate != expectedClass { current = _getSuperclass(candidate) }
        return current == nil ? nil : object
    }

    /// Reads a Swift type, as `try value.to([Int].self)`.
    ///
    /// Throws a ``JSConversionError`` if the value has another type, more than 1048576 items in all or more than 512
    /// levels, and a ``JSError`` if JavaScript throws meanwhile.
    public func to<Value: JSConvertible>(_ type: Value.Type = Value.self) throws -> Value {
        try Value.fromJSValue(self)
    }

    // MARK: Within the module

    /// The text, if it has one. No handler is told otherwise.
    var text: String? { Text.of(ref, in: home.ref) }

    /// A number without fraction.
    var integer: Int? { isNumber ? Int(exactly: toDouble()) : nil }

    /// The length of an array.
    var arrayLength: Int { max(0, self["length"].integer ?? 0) }

    private func refuse<Value>(_ expected: String) -> Value? {
        home.report(JSError(message: "the value is not \(expected.withArticle)"))
        return nil
    }

    private func reading<Result>(_ read: (inout JSValueReader) throws(JSError) -> Result?) -> Result? {
        var reader = JSValueReader()
        do throws(JSError) {
            return try read(&reader)
        } catch {
            home.report(error)
            return nil
        }
    }
}

extension JSValue {
    /// The names of the enumerable properties, its own and inherited ones, in order; empty if it is not an object.
    ///
    /// If a proxy throws, or a typed array or `String` object has more than 1048576 indexes, the context's handler is
    /// told and the list is empty.
    public var propertyNames: [String] {
        do throws(JSError) {
            return try names()
        } catch {
            home.report(error)
            return []
        }
    }

    /// The names of the enumerable properties. Throws what a proxy throws, and if there are too many.
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

    /// Whether it is a typed array or a `String` object that is too long. These have a name for each index, although
    /// they may use hardly any memory.
    private func hasIndexesBeyondTheLimit() throws(JSError) -> Bool {
        let index = JSValueMakeNumber(home.ref, Double(JSValueReader.maximumItems))
        guard !isArray, JSObjectHasPropertyForKey(home.ref, ref, index, nil) else { return false }
        return try property("length").toDouble() > Double(JSValueReader.maximumItems)
    }

    /// A property of an object. Nil if reading it throws. That is not reported, because an error whose own parts throw
    /// would be reported endlessly.
    func peek(_ key: String) -> JSValue? {
        guard isObject else { return nil }
        return Text.with(key) { JSObjectGetProperty(home.ref, ref, $0, nil) }.map { JSValue($0, in: home) }
    }
}

/// Whole values as JSON text: faster than reading single properties, and independent of a script's changes to `JSON`.
extension JSValue {
    /// The value of a JSON text; nil if it is not valid.
    public convenience init?(newFromJSON text: String, in context: JSContext) {
        guard let ref = Text.with(text, { JSValueMakeFromJSONString(context.ref, $0) }) else { return nil }
        self.init(ref, in: context)
    }

    /// The value as `JSON.stringify` gives it; nil for what JSON cannot represent, such as `undefined` and a function.
    /// Throws what a `toJSON` or a getter throws, and a `TypeError` for a value that contains itself.
    public func jsonText() throws(JSError) -> String? {
        var exception: OpaquePointer?
        let text = JSValueCreateJSONString(home.ref, ref, 0, &exception)
        if exception != nil { throw home.error(exception) }
        return text.map(Text.take)
    }
}
