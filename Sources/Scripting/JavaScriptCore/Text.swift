internal import CJavaScriptCore
internal import Glibc

/// Conversion of strings. JavaScript's are UTF-16 and may contain lone surrogates, which become U+FFFD here.
enum Text {
    /// Calls `body` with a JavaScript string of the same text.
    static func with<Result>(_ text: String, _ body: (OpaquePointer?) -> Result) -> Result {
        let string = make(text)
        defer { JSStringRelease(string) }
        return body(string)
    }

    /// A string that the caller must release.
    private static func make(_ text: String) -> OpaquePointer? {
        var text = text
        // Only the function for UTF-16 accepts NUL.
        guard text.withUTF8({ isASCII(UnsafeRawBufferPointer($0)) && !holdsNUL(UnsafeRawBufferPointer($0)) }) else {
            let units = Array(text.utf16)
            return JSStringCreateWithCharacters(units, units.count)
        }
        return text.withCString { JSStringCreateWithUTF8CString($0) }
    }

    /// The text of a string that the caller owns; releases the string.
    static func take(_ string: OpaquePointer) -> String {
        defer { JSStringRelease(string) }
        return read(string)
    }

    static func read(_ string: OpaquePointer) -> String {
        let count = JSStringGetLength(string)
        var isASCII = false
        let text = String(unsafeUninitializedCapacity: count + 1) { bytes in
            isASCII = copyASCII(string, count, to: bytes)
            return isASCII ? count : 0
        }
        return isASCII ? text : decode(string, count)
    }

    /// The text of a string as UTF-8.
    static func readUTF8(_ string: OpaquePointer) -> [UInt8] {
        let count = JSStringGetLength(string)
        var isASCII = false
        let bytes = [UInt8](unsafeUninitializedCapacity: count + 1) { bytes, filled in
            isASCII = copyASCII(string, count, to: bytes)
            filled = isASCII ? count : 0
        }
        return isASCII ? bytes : Array(decode(string, count).utf8)
    }

    /// Copies a string if it is ASCII, as most are: ten times as fast as the general way. Returns whether it was;
    /// otherwise the library stops when the buffer is full, or at a lone surrogate.
    private static func copyASCII(
        _ string: OpaquePointer,
        _ count: Int,
        to bytes: UnsafeMutableBufferPointer<UInt8>
    ) -> Bool {
        bytes.withMemoryRebound(to: CChar.self) { JSStringGetUTF8CString(string, $0.baseAddress, count + 1) } == count
            + 1
            && isASCII(UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(bytes).prefix(count)))
    }

    /// Eight bytes at a time: an answer may have megabytes, and its script's CPU time is limited.
    private static func isASCII(_ bytes: UnsafeRawBufferPointer) -> Bool {
        let words = bytes.count & ~7
        var index = 0
        while index < words {
            if bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self) & 0x8080_8080_8080_8080 != 0 { return false }
            index += 8
        }
        while index < bytes.count {
            if bytes[index] >= 0x80 { return false }
            index += 1
        }
        return true
    }

    static func holdsNUL(_ bytes: UnsafeRawBufferPointer) -> Bool {
        bytes.baseAddress.map { memchr($0, 0, bytes.count) != nil } ?? false
    }

    private static func decode(_ string: OpaquePointer, _ count: Int) -> String {
        String(decoding: UnsafeBufferPointer(start: JSStringGetCharactersPtr(string), count: count), as: UTF16.self)
    }

    /// The text of a value, as `String(value)` gives it. Nil if that throws (a symbol, a bad `toString`).
    static func of(_ value: OpaquePointer?, in context: OpaquePointer) -> String? {
        JSValueToStringCopy(context, value, nil).map(take)
    }
}
