public import JSON

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

/// The error that a handler answered with.
public struct HandlerFailure: Error, Sendable, Hashable {
    /// One of the protocol's codes; nil if it named none.
    public var code: CommandError.Code?
    /// What went wrong, for people.
    public var message: String
    /// A JSON pointer into the parameters, if one of them is wrong.
    public var field: String?
    /// Where a script failed, and for a macro what its editor needs: those of ``placeNames`` that the handler gave.
    public var place: JSONObject = [:]

    static let placeNames = ["file", "line", "column", "stack", "source", "text", "macro", "base", "version"]
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
