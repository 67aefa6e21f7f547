public import JSON

/// The two forms of a line. An answer comes in the form of its question.
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

/// One call: the command, its parameters, and where its reply belongs.
public struct Request: Sendable, Hashable {
    public var command: String
    /// What the caller wants echoed: `id` in the URL form, `callbackId` in the bridge form.
    public var id: String?
    public var form: WireForm
    public var parameters: [JSONValue]
    /// What a bridge caller sent, as it was; nil in the URL form, which has parameters only.
    public var data: JSONValue?

    public init(
        _ command: String,
        parameters: [JSONValue] = [],
        id: String? = nil,
        form: WireForm = .url,
        data: JSONValue? = nil
    ) {
        self.command = command
        self.parameters = parameters
        self.id = id
        self.form = form
        self.data = data
    }

    /// The parameters that a decoded message stands for: none for `null`, an array's items, else the value itself.
    static func parameters(of message: JSONValue) -> [JSONValue] {
        switch message {
        case .null: []
        case .array(let items): items
        default: [message]
        }
    }
}

/// What a handler answered to a call that the daemon passed on to it.
public struct HandlerAnswer: Sendable, Hashable {
    public var value: JSONValue
    /// The command that the reply goes under, where it is not the call's own.
    public var replyCommand: String?
    /// Whether the stack ends here.
    public var ends: Bool
}

/// A message that cannot be a call, with as much of it as could be read, so that the error finds its caller.
public struct UnreadableMessage: Error, Sendable, Hashable {
    public var command: String?
    public var id: String?
    public var code: CommandError.Code
    public var message: String

    public var error: CommandError { CommandError(code, message) }
}

/// What one message of a line is.
public enum IncomingMessage: Sendable, Hashable {
    case call(Request)
    case answer(id: String?, Result<HandlerAnswer, HandlerFailure>)
    case unreadable(UnreadableMessage)
}

/// The error that a handler answered with.
public struct HandlerFailure: Error, Sendable, Hashable {
    public var code: CommandError.Code?
    public var message: String
    public var field: String?
    /// Where a script failed: those of ``placeNames`` that the handler gave.
    public var place: JSONObject = [:]

    static let placeNames = ["file", "line", "column", "stack"]
}
