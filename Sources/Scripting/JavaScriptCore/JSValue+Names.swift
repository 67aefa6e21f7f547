internal import CJavaScriptCore

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
