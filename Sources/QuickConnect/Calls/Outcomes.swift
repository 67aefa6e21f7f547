public import Concurrency
public import JSON

/// What a ValCO made of a call.
public enum ValidationOutcome: Sendable {
    /// The next command object runs.
    case accept
    /// The same, and the command objects behind it find the value (``Call/handedOn(_:)``).
    case handOn(any Sendable)
    /// Ends the stack, without an error.
    case end
}

/// What a BCO made of a call.
public enum BusinessOutcome: Sendable {
    /// Done, without a result.
    case proceed
    /// A result, appended to ``Call/results`` for the command objects behind. Where it is the last one and no VCO
    /// replies, it is the reply, under the command it names or the call's own.
    case result(Message, under: String?)
    /// Ends the stack, with a last result or without. No VCO runs.
    case end(Message?, under: String?)

    /// A result for those behind it, and the reply if no view gives one.
    public static func result(_ value: JSONValue) -> BusinessOutcome { .result(.value(value), under: nil) }
    /// Ends the stack without a reply of its own.
    public static var end: BusinessOutcome { .end(Message?.none, under: nil) }
}

/// What a VCO made of a call.
public enum ViewOutcome: Sendable {
    /// Done, without a reply.
    case proceed
    /// A reply, under the command it names or the call's own.
    case reply(Message, under: String?)
    /// Ends the stack, with a reply or without.
    case end(Message?, under: String?)

    /// A reply to the caller, under the call's own command unless another one is named.
    public static func reply(_ value: JSONValue, under command: String? = nil) -> ViewOutcome {
        .reply(.value(value), under: command)
    }
    /// Ends the views behind it.
    public static var end: ViewOutcome { .end(Message?.none, under: nil) }
}

/// What an ECO made of an error.
public enum ErrorOutcome: Sendable {
    /// The next ECO sees it.
    case proceed
    /// No other ECO sees it. The caller gets it all the same.
    case end
}

/// The outcome of a command object that may have to wait.
///
/// What is awaited is cancelled by `cancel`, by the call's timeout, by the end of its connection, and when the daemon
/// stops; what it then gives or throws is of no interest.
public enum Awaited<Outcome: Sendable>: Sendable {
    /// There was no need to wait.
    case now(Outcome)
    /// Runs as a task.
    case operation(Operation)
    /// Is settled by somebody else, with no task in between. Where nobody waits any more it fails with `cancelled`,
    /// and `onCancel` is called.
    case promise(Promise<Outcome>, onCancel: @Sendable () -> Void)
    /// A client's handler is called, and its answer is the outcome.
    case handler(HandlerWait)

    /// What is run while others get on; it may take its time.
    public typealias Operation = @Sendable () async throws(CommandError) -> Outcome

    /// Waits for what an operation answers.
    public static func wait(_ operation: @escaping Operation) -> Awaited { .operation(operation) }
}

/// A client's handler that will answer.
public struct HandlerWait: Sendable {
    /// The connection that registered the handler.
    public let client: any CallConnection
    /// The handler's name.
    public let handler: String
    /// Whether the client wants to hear of it where nobody waits for the answer any more.
    public let hearsCancel: Bool

    /// A handler of a connection; `hearsCancel` where it wants to be told that nobody waits any more.
    public init(_ handler: String, of client: any CallConnection, hearsCancel: Bool = false) {
        self.client = client
        self.handler = handler
        self.hearsCancel = hearsCancel
    }

    /// Nobody waits for the answer any more.
    func cancel(_ number: Int) {
        if hearsCancel { client.cancelAnswer(number) } else { client.forgetAnswer(number) }
    }
}
