internal import CJavaScriptCore
public import Foundation

extension JSValue {
    /// As `Boolean(value)` gives it.
    public func toBool() -> Bool { JSValueToBoolean(home.ref, ref) }

    /// As `Number(value)` gives it; NaN where that throws.
    public func toDouble() -> Double { JSValueToNumber(home.ref, ref, nil) }

    /// As `value | 0` gives it.
    public func toInt32() -> Int32 { JSValueToInt32(home.ref, ref, nil) }

    /// As `value >>> 0` gives it.
    public func toUInt32() -> UInt32 { JSValueToUInt32(home.ref, ref, nil) }

    /// A boolean's or a number's.
    public func toNumber() -> NSNumber! { isBoolean ? NSNumber(value: toBool()) : NSNumber(value: toDouble()) }

    /// As `String(value)` gives it; nil where that throws, and the context's handler is told.
    public func toString() -> String! {
        var exception: OpaquePointer?
        if let string = JSValueToStringCopy(home.ref, ref, &exception) { return Text.take(string) }
        home.report(home.error(exception))
        return nil
    }

    /// A `Date`'s, or that of a number of milliseconds since 1970.
    public func toDate() -> Date! { Date(timeIntervalSince1970: toDouble() / 1000) }

    /// An array's items, each as ``toObject()`` gives it; nil for `undefined` and `null`. What is no array is an
    /// error, of which the context's handler is told.
    public func toArray() -> [Any]! {
        guard !isUndefined, !isNull else { return nil }
        guard isArray else { return refuse("array") }
        var seen = Seen()
        return items(&seen)
    }

    /// An object's own enumerable properties, each as ``toObject()`` gives it; nil for `undefined` and `null`. What
    /// is no object is an error, of which the context's handler is told.
    public func toDictionary() -> [AnyHashable: Any]! {
        guard !isUndefined, !isNull else { return nil }
        guard isObject else { return refuse("object") }
        var seen = Seen()
        return members(&seen)
    }

    /// The Swift value: nil for `undefined`, `NSNull`, `NSNumber`, `String`, `Date`, `[Any]`, `[AnyHashable: Any]`, or
    /// the Swift object itself where one was exported. A function is its ``JSValue``. An object that holds itself has
    /// `NSNull` in the place of the repetition.
    public func toObject() -> Any! {
        var seen = Seen()
        return object(&seen)
    }

    /// As ``toObject()``, where that is of the class; else nil.
    public func toObjectOf(_ expectedClass: AnyClass!) -> Any! {
        guard let object = toObject() else { return nil }
        var current: AnyClass? = type(of: object) as? AnyClass
        while let candidate = current, candidate != expectedClass { current = _getSuperclass(candidate) }
        return current == nil ? nil : object
    }

    /// Reads a Swift type.
    /// Throws ``JSConversionError`` where the value is nothing of the kind, or what JavaScript threw meanwhile.
    public func to<Value: JSConvertible>(_ type: Value.Type = Value.self) throws -> Value {
        try Value.fromJSValue(self)
    }

    // MARK: Within the module

    /// The text, where it has one; nobody is told where not.
    var text: String? { Text.of(ref, in: home.ref) }

    /// A number without fraction.
    var integer: Int? { isNumber ? Int(exactly: toDouble()) : nil }

    private var home: JSContext { context }

    private func refuse<Value>(_ expected: String) -> Value? {
        home.report(JSError(message: "the value is no \(expected)"))
        return nil
    }

    /// The objects that are being read, so that a cycle ends.
    private struct Seen {
        var refs: Set<OpaquePointer> = []
    }

    private func object(_ seen: inout Seen) -> Any? {
        switch JSValueGetType(home.ref, ref) {
        case kJSTypeUndefined: return nil
        case kJSTypeNull: return NSNull()
        case kJSTypeBoolean, kJSTypeNumber: return toNumber()
        case kJSTypeString: return text
        case kJSTypeObject: break
        default: return self
        }
        if let object = ObjectBox.of(ref, in: home.ref)?.object { return (object as? OpaqueObject)?.value ?? object }
        if isDate { return toDate() }
        if isArray { return items(&seen) }
        return isFunction ? self : members(&seen)
    }

    private func items(_ seen: inout Seen) -> [Any] {
        reading(&seen) { seen in
            (0..<(self["length"].integer ?? 0)).map { self[$0].object(&seen) ?? NSNull() }
        } ?? []
    }

    private func members(_ seen: inout Seen) -> [AnyHashable: Any] {
        reading(&seen) { seen in
            var members: [AnyHashable: Any] = [:]
            for name in propertyNames { members[name] = self[name].object(&seen) ?? NSNull() }
            return members
        } ?? [:]
    }

    private func reading<Value>(_ seen: inout Seen, _ body: (inout Seen) -> Value) -> Value? {
        guard let ref, seen.refs.insert(ref).inserted else { return nil }
        defer { seen.refs.remove(ref) }
        return body(&seen)
    }
}
