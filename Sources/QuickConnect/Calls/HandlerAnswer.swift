public import JSON

/// What a handler answered to a call that the daemon passed on to it.
public struct HandlerAnswer: Sendable, Equatable {
    /// The value that it answers.
    public var message: Message
    /// The command that the reply goes under, where the handler names one.
    public var replyCommand: String?
    /// Whether the stack ends here.
    public var ends: Bool

    /// An answer, the command that its reply goes under where it is another one, and whether the stack ends.
    public init(_ message: Message, replyCommand: String? = nil, ends: Bool = false) {
        self.message = message
        self.replyCommand = replyCommand
        self.ends = ends
    }
}

/// The error that a handler answered with.
public struct HandlerFailure: Error, Sendable, Hashable {
    /// One of the protocol's codes; nil where it named none.
    public var code: CommandError.Code?
    /// What went wrong, for people.
    public var message: String
    /// A JSON pointer into the parameters, where one is at fault.
    public var field: String?
    /// Where a script failed, and of a macro what somebody needs who edits it: those of ``placeNames`` that the handler
    /// gave.
    public var place: JSONObject = [:]

    static let placeNames = ["file", "line", "column", "stack", "source", "macro", "base", "version"]
}

/// What becomes of a call to a handler: its answer, its error, or why neither will come.
public enum HandlerOutcome: Sendable {
    case answer(HandlerAnswer)
    case failure(HandlerFailure)
    /// The handler's connection is gone.
    case lost(CommandError)
}

/// Waits for a handler's answer.
public protocol AnswerReceiver: AnyObject, Sendable {
    /// Takes the outcome of the call with that number, once, on the thread that brings it, and says whether anybody
    /// still waited for it.
    func receive(_ outcome: HandlerOutcome, number: Int) -> Bool
}
