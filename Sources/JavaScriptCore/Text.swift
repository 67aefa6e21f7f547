internal import CJavaScriptCore

/// Strings in and out. JavaScript's are UTF-16 and may hold halves of surrogate pairs, which become U+FFFD here.
enum Text {
    /// Calls `body` with a JavaScript string of the same text.
    static func with<Result>(_ text: String, _ body: (OpaquePointer?) -> Result) -> Result {
        let string = make(text)
        defer { JSStringRelease(string) }
        return body(string)
    }

    /// A string to be released.
    private static func make(_ text: String) -> OpaquePointer? {
        var text = text
        let isASCII = text.withUTF8 { $0.allSatisfy { $0 < 0x80 && $0 != 0 } }
        // Only the function for UTF-16 takes NUL.
        guard isASCII else {
            let units = Array(text.utf16)
            return JSStringCreateWithCharacters(units, units.count)
        }
        return text.withCString { JSStringCreateWithUTF8CString($0) }
    }

    /// The text of a string that the caller owns, which is released.
    static func take(_ string: OpaquePointer) -> String {
        defer { JSStringRelease(string) }
        return read(string)
    }

    static func read(_ string: OpaquePointer) -> String {
        let units = UnsafeBufferPointer(start: JSStringGetCharactersPtr(string), count: JSStringGetLength(string))
        return String(decoding: units, as: UTF16.self)
    }

    /// The text of a value, as `String(value)` gives it. Nil where that throws (a symbol, a bad `toString`).
    static func of(_ value: OpaquePointer?, in context: OpaquePointer) -> String? {
        JSValueToStringCopy(context, value, nil).map(take)
    }
}
