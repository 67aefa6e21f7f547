/// The two forms of a line. A reply has the form of its call.
public enum WireForm: Sendable, Hashable {
    /// QuickConnect's: `call?cmd=…&msg=…`.
    case url
    /// WebViewJavascriptBridge's: `{"handlerName":…}`.
    case bridge

    /// The form of a line that begins with this byte.
    public init(firstByte: UInt8?) {
        self = firstByte == UInt8(ascii: "{") || firstByte == UInt8(ascii: "[") ? .bridge : .url
    }
}
