internal import CJavaScriptCore

/// Text that is converted from or to bytes without making a Swift string.
public struct JSText: JSConvertible, Sendable {
    /// The bytes as given, or UTF-8 if they came from JavaScript.
    public let utf8: [UInt8]

    /// Text for JavaScript.
    /// - Parameter utf8: its bytes. Invalid UTF-8 becomes U+FFFD in JavaScript's string.
    public init(utf8: [UInt8]) { self.utf8 = utf8 }

    /// A string.
    public func toJSValue(in context: JSContext) -> JSValue { JSValue(toRef(in: context.ref), in: context) }

    /// The text as `String(value)` gives it. Throws a ``JSError`` for a symbol, and for a `toString` that throws.
    public static func fromJSValue(_ value: JSValue) throws -> JSText {
        JSText(utf8: Array(try String.fromJSValue(value).utf8))
    }

    /// A string, as the library's value.
    public func toRef(in context: OpaquePointer) -> OpaquePointer? {
        let string = makeString()
        defer { JSStringRelease(string) }
        return JSValueMakeString(context, string)
    }

    /// The text as `String(value)` gives it, without making a Swift string of it. Throws what a `toString` throws.
    public static func from(_ ref: OpaquePointer?, in context: OpaquePointer) throws -> JSText {
        guard let string = try checked(context, { JSValueToStringCopy(context, ref, $0) }) else {
            return JSText(utf8: [])
        }
        defer { JSStringRelease(string) }
        return JSText(utf8: Text.readUTF8(string))
    }

    private func makeString() -> OpaquePointer? {
        // The function for UTF-8 stops at the first NUL, but its string takes half the memory if everything is ASCII.
        // For invalid UTF-8 it makes an empty string.
        guard !utf8.withUnsafeBytes(Text.holdsNUL), let string = makeStringOfUTF8() else { return makeRepairedString() }
        guard JSStringGetLength(string) == 0, !utf8.isEmpty else { return string }
        JSStringRelease(string)
        return makeRepairedString()
    }

    private func makeRepairedString() -> OpaquePointer? {
        let units = Array(String(decoding: utf8, as: UTF8.self).utf16)
        return JSStringCreateWithCharacters(units, units.count)
    }

    private func makeStringOfUTF8() -> OpaquePointer? {
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: utf8.count + 1) { text in
            utf8.withUnsafeBytes { UnsafeMutableRawBufferPointer(text).copyMemory(from: $0) }
            text[utf8.count] = 0
            return JSStringCreateWithUTF8CString(text.baseAddress)
        }
    }
}
