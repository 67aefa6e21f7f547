internal import CJavaScriptCore

/// Reads a JavaScript value, with everything in it, as Swift values.
///
/// A script can make values that never end, or that take much more memory when read; so there are limits.
struct JSValueReader {
    /// How deep values may be nested.
    static let maximumDepth = 512
    /// How many items and properties may be read in all.
    static let maximumItems = 1 << 20

    private struct Finished {
        /// Kept alive, because a new object could otherwise get the address of a collected one.
        var value: JSValue
        var object: Any
    }

    private var open: Set<OpaquePointer> = []
    private var finished: [OpaquePointer: Finished] = [:]
    private var repetitions = 0
    private var itemCount = 0

    /// Nil for `undefined`, and for an invalid date.
    mutating func object(_ value: JSValue) throws(JSError) -> Any? {
        switch JSValueGetType(value.home.ref, value.ref) {
        case kJSTypeUndefined: return nil
        case kJSTypeNull: return ForeignValues.null
        case kJSTypeBoolean, kJSTypeNumber: return ForeignValues.number(value)
        case kJSTypeString: return value.text
        case kJSTypeObject: return try content(value)
        default: return value
        }
    }

    private mutating func content(_ value: JSValue) throws(JSError) -> Any? {
        if let object = ObjectBox.of(value.ref, in: value.home.ref)?.object {
            return (object as? OpaqueObject)?.value ?? object
        }
        if value.isDate { return ForeignValues.date(value) }
        if value.isArray { return try items(value) }
        return value.isFunction ? value : try members(value)
    }

    mutating func items(_ value: JSValue) throws(JSError) -> [Any] {
        try container(value, empty: []) { (reader: inout JSValueReader) throws(JSError) in
            let count = value.arrayLength
            try reader.count(count)
            var items: [Any] = []
            for index in 0..<count { items.append(try reader.object(value[index]) ?? ForeignValues.null) }
            return items
        }
    }

    mutating func members(_ value: JSValue) throws(JSError) -> [AnyHashable: Any] {
        try container(value, empty: [:]) { (reader: inout JSValueReader) throws(JSError) in
            let names = try value.names()
            try reader.count(names.count)
            var members: [AnyHashable: Any] = [:]
            for name in names { members[name] = try reader.object(value[name]) ?? ForeignValues.null }
            return members
        }
    }

    private mutating func count(_ more: Int) throws(JSError) {
        guard more <= Self.maximumItems - itemCount else { throw .tooLarge }
        itemCount += more
    }

    /// Reads the contents of a value only once, however many others contain it. Within itself it is replaced by
    /// `empty`.
    private mutating func container<Content>(
        _ value: JSValue,
        empty: Content,
        _ read: (inout JSValueReader) throws(JSError) -> Content
    ) throws(JSError) -> Content {
        guard let ref = value.ref else { return empty }
        if let content = finished[ref]?.object as? Content { return content }
        guard open.insert(ref).inserted else {
            repetitions += 1
            return empty
        }
        defer { open.remove(ref) }
        guard open.count <= Self.maximumDepth else { throw .tooDeep }
        let before = repetitions
        let content = try read(&self)
        // A value with an inner repetition is not cached, because elsewhere it is complete.
        if repetitions == before { finished[ref] = Finished(value: value, object: content) }
        return content
    }
}

extension JSError {
    static let tooDeep = JSError(message: "the value is nested deeper than \(JSValueReader.maximumDepth) levels")
    static let tooLarge = JSError(message: "the value has more than \(JSValueReader.maximumItems) items")
}
