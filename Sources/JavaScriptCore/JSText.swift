internal import CJavaScriptCore

/// Text on its way into JavaScript as the bytes that it came in: spares making a Swift string of it.
public struct JSText: JSConvertible, Sendable {
    private let utf8: [UInt8]

    /// - Parameter utf8: what is not UTF-8 in it becomes U+FFFD.
    public init(utf8: [UInt8]) { self.utf8 = utf8 }

    public func toJSValue(in context: JSContext) -> JSValue { JSValue(toRef(in: context.ref), in: context) }

    public static func fromJSValue(_ value: JSValue) throws -> JSText {
        JSText(utf8: Array(try String.fromJSValue(value).utf8))
    }

    public func toRef(in context: OpaquePointer) -> OpaquePointer? {
        let string = makeString()
        defer { JSStringRelease(string) }
        return JSValueMakeString(context, string)
    }

    private func makeString() -> OpaquePointer? {
        guard utf8.allSatisfy({ $0 < 0x80 }) else {
            let units = Array(String(decoding: utf8, as: UTF8.self).utf16)
            return JSStringCreateWithCharacters(units, units.count)
        }
        return withUnsafeTemporaryAllocation(of: UInt16.self, capacity: max(utf8.count, 1)) { units in
            for index in utf8.indices { units.initializeElement(at: index, to: UInt16(utf8[index])) }
            return JSStringCreateWithCharacters(units.baseAddress, utf8.count)
        }
    }
}
