public import JSON

/// The results of the BCOs that have run, in order. A single one needs no array.
public struct Results: Sendable {
    private var first: Message?
    private var others: [Message]?
    /// The command of the last result's reply, if it is not the call's own.
    public private(set) var replyCommand: String?

    /// Whether no command object has had a result.
    public var isEmpty: Bool { first == nil }
    /// How many there are.
    public var count: Int { first == nil ? 0 : 1 + (others?.count ?? 0) }
    /// The newest one.
    public var last: Message? { others?.last ?? first }

    /// One of them, from 0; null beyond the last.
    public subscript(index: Int) -> Message { (index == 0 ? first : others?[index - 1]) ?? .null }

    mutating func append(_ message: consuming Message, under command: consuming String?) {
        if first == nil { first = message } else { appendToOthers(message) }
        replyCommand = command
    }

    private mutating func appendToOthers(_ message: Message) {
        if others == nil { others = [] }
        others?.append(message)
    }

    /// All of them as values.
    public var values: [JSONValue] { (0..<count).map { self[$0].value } }

    /// Appends them as a JSON array.
    func write(to buffer: OutputBuffer) {
        buffer.append(UInt8(ascii: "["))
        for index in 0..<count {
            if index > 0 { buffer.append(UInt8(ascii: ",")) }
            self[index].write(to: buffer)
        }
        buffer.append(UInt8(ascii: "]"))
    }
}

/// What a handler answered to a call that the daemon passed on to it.
public struct HandlerAnswer: Sendable, Equatable {
    /// The value that it answers.
    public var message: Message
    /// The command of the reply, if the handler names one.
    public var replyCommand: String?
    /// Whether the stack ends here.
    public var ends: Bool

    /// An answer, the command of its reply if it differs, and whether the stack ends.
    public init(_ message: Message, replyCommand: String? = nil, ends: Bool = false) {
        self.message = message
        self.replyCommand = replyCommand
        self.ends = ends
    }
}

/// The error that a handler answers with. The caller gets it, in the validation phase as `invalid`.
public struct HandlerFailure: Error, Sendable, Hashable {
    /// A code of the protocol; nil: `scriptFailed`.
    public var code: CommandError.Code?
    /// A sentence for people.
    public var message: String
    /// The parameter that is wrong, a JSON pointer: `/0`.
    public var field: String?
    /// For an error of a script or a macro, its position and what an editor needs: the daemon passes on those of
    /// ``detailNames``.
    public var details: JSONObject = [:]

    static let detailNames = ["file", "line", "column", "stack", "source", "text", "macro", "base", "version"]

    /// An error for the caller: its code (`scriptFailed` if there is none), a sentence, and the parameter at fault.
    public init(_ code: CommandError.Code? = nil, _ message: String, field: String? = nil) {
        self.code = code
        self.message = message
        self.field = field
    }
}

/// How a call to a handler ends: with its answer, its error, or the reason why neither will come.
public enum HandlerOutcome: Sendable {
    case answer(HandlerAnswer)
    case failure(HandlerFailure)
    /// The handler's connection is gone.
    case lost(CommandError)
}

/// Waits for a handler's answer.
public protocol AnswerReceiver: AnyObject, Sendable {
    /// Takes the outcome of the call with that number, once, on the thread that delivers it. Returns whether anybody
    /// still waited for it.
    func receive(_ outcome: HandlerOutcome, number: Int) -> Bool
}
