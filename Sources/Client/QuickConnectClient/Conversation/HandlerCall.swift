public import JSON
public import QuickConnect

/// A call of the daemon to one of this client's handlers.
public struct HandlerCall: Sendable, Hashable {
    /// The handler's name.
    public var handler: String
    /// A bridge caller's message unchanged, or the parameter array of any other caller.
    public var data: JSONValue
    /// The command that was called.
    public var command: String
    /// The phase of the command's stack: `validation`, `business`, `view` or `error`.
    public var phase: String
    /// The results of the business command objects before this one.
    public var results: [JSONValue]
    /// The caller: `{"uid", "user"}` or `{"gateway", "user"}`; empty if the daemon does not say.
    public var caller: JSONObject
    /// In the error phase, the error.
    public var error: ErrorReply?

    /// The parameters, whoever calls: none where ``data`` is `null`, the items of an array, any other value alone.
    public var parameters: [JSONValue] { data == .null ? [] : data.arrayValue ?? [data] }

    /// The caller as rules name it: `ann`, or `web:ann` for a user of a gateway; the number of a user without a name.
    /// Callers take turns and have shares by it.
    public var callerName: String {
        let user = caller["user"]?.stringValue ?? caller["uid"]?.text ?? ""
        return caller["gateway"]?.stringValue.map { "\($0):\(user)" } ?? user
    }

    /// Identifies the call.
    public struct Number: Sendable, Hashable {
        /// The daemon's id, unique within the connection.
        let id: String
        let connection: Int
    }

    /// The daemon's id, unique within the connection.
    let id: String
    /// The connection on which it came; its answer can only be sent there.
    var connection = 0

    /// What ``ClientConversation/Event/cancelled(_:)`` names.
    public var number: Number { Number(id: id, connection: connection) }

    init?(_ message: JSONObject) {
        guard let id = message["callbackId"]?.stringValue, let handler = message["handlerName"]?.stringValue
        else { return nil }
        self.id = id
        self.handler = handler
        data = message["data"] ?? .null
        command = message["command"]?.stringValue ?? handler
        phase = message["phase"]?.stringValue ?? Phase.business.rawValue
        results = message["results"]?.arrayValue ?? []
        caller = message["caller"]?.objectValue ?? [:]
        error = message["error"].map(ErrorReply.init)
    }

    /// What a handler answers.
    public struct Answer: Sendable, Hashable {
        /// The result, or in the view phase the reply.
        public var value: JSONValue
        /// The command of the reply; nil: the call's own.
        public var replyCommand: String?
        /// Whether the stack ends after this handler.
        public var endsStack: Bool

        /// An answer, the command of its reply if it differs, and whether the stack ends.
        public init(_ value: JSONValue, replyCommand: String? = nil, endsStack: Bool = false) {
            self.value = value
            self.replyCommand = replyCommand
            self.endsStack = endsStack
        }
    }

    /// The error that a handler answers with. The caller gets it, in the validation phase as `invalid`.
    public typealias Failure = HandlerFailure

    /// The line of an answer, with its line break.
    func line(of answer: Result<Answer, Failure>) -> [UInt8] {
        var members: JSONObject = ["responseId": .string(id)]
        switch answer {
        case .failure(let failure): members["error"] = failure.json
        case .success(let answer):
            members["responseData"] = answer.value
            if let command = answer.replyCommand { members["handlerName"] = .string(command) }
            if answer.endsStack { members["end"] = true }
        }
        return Array("\(JSONValue.object(members).text)\n".utf8)
    }
}

extension HandlerFailure {
    /// `invalid`: a parameter does not fit. The message is `expected WHAT; got GIST`.
    /// - Parameters:
    ///   - what: what would fit, in words: `address, a string`.
    ///   - field: the JSON pointer of the parameter: `/0`.
    ///   - value: what came; nil if the parameter was left out.
    public static func expected(_ what: String, at field: String, got value: JSONValue?) -> HandlerFailure {
        HandlerFailure(.invalid, "expected \(what); got \(value?.gist ?? "nothing")", field: field)
    }

    var json: JSONValue {
        var members = details
        if let code { members["code"] = .string(code.rawValue) }
        members["message"] = .string(message)
        if let field { members["field"] = .string(field) }
        return .object(members)
    }
}
