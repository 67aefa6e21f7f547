public import Concurrency
public import JSON

/// The result of a ValCO.
public enum ValidationOutcome: Sendable {
    /// The next command object runs.
    case accept
    /// The same, and the following command objects get the value (``Call/handedOn(_:)``).
    case handOn(any Sendable)
    /// Ends the stack, without an error.
    case end
}

/// The result of a BCO.
public enum BusinessOutcome: Sendable {
    /// Done, without a result.
    case proceed
    /// A result, appended to ``Call/results`` for the command objects that follow. If it is the last one and no VCO
    /// replies, it is the reply, under the command it names or the call's own.
    case result(Message, under: String?)
    /// Ends the stack, with or without a last result. No VCO runs.
    case end(Message?, under: String?)

    /// A result for the command objects that follow, and the reply if no VCO gives one.
    public static func result(_ value: JSONValue) -> BusinessOutcome { .result(.value(value), under: nil) }
    /// Ends the stack without a result of its own.
    public static var end: BusinessOutcome { .end(Message?.none, under: nil) }
}

/// The result of a VCO.
public enum ViewOutcome: Sendable {
    /// Done, without a reply.
    case proceed
    /// A reply, under the command it names or the call's own.
    case reply(Message, under: String?)
    /// Ends the stack, with or without a reply.
    case end(Message?, under: String?)

    /// A reply to the caller, under `command` or, if that is nil, the call's own command.
    public static func reply(_ value: JSONValue, under command: String? = nil) -> ViewOutcome {
        .reply(.value(value), under: command)
    }
    /// Ends the stack without a reply of its own; no further VCO runs.
    public static var end: ViewOutcome { .end(Message?.none, under: nil) }
}

/// The result of an ECO.
public enum ErrorOutcome: Sendable {
    /// The next ECO sees it.
    case proceed
    /// No other ECO sees it. The caller still gets it.
    case end
}

/// The outcome of a command object that may have to wait.
///
/// The wait is cancelled by `cancel`, by the call's timeout, by the end of its connection, and when the daemon stops.
/// What it returns or throws after that is ignored.
public enum Awaited<Outcome: Sendable>: Sendable {
    /// There was no need to wait.
    case now(Outcome)
    /// Runs as a task.
    case operation(Operation)
    /// Is settled by other code, without a task. If nobody waits any more, it fails with `cancelled` and `onCancel` is
    /// called.
    case promise(Promise<Outcome>, onCancel: @Sendable () -> Void)
    /// A client's handler is called, and its answer is the outcome.
    case handler(HandlerWait)

    /// Runs while other calls go on; it may take its time.
    public typealias Operation = @Sendable () async throws(CommandError) -> Outcome

    /// Waits for the result of an operation.
    public static func wait(_ operation: @escaping Operation) -> Awaited { .operation(operation) }

    /// Waits for a promise, without a task. It fails with `cancelled` if nobody waits any more.
    /// - Parameters:
    ///   - limit: the time after which it fails with `timeout`; none, if nil.
    ///   - problem: what has not happened then.
    public static func wait<Value>(
        for promise: Promise<Value>,
        atMost limit: Duration? = nil,
        orElse problem: String = "",
        _ outcome: @escaping @Sendable (Value) -> Outcome
    ) -> Awaited {
        let alarm = limit.map { limit in
            AlarmThread.shared.set(after: limit) {
                promise.fail(CommandError(.timeout, "\(problem) within \(limit.words)"))
            }
        }
        let awaited = Promise<Outcome>()
        promise.whenSettled {
            if let alarm { AlarmThread.shared.cancel(alarm) }
            awaited.settle($0.map(outcome))
        }
        return .promise(awaited) { promise.fail(CommandError(.cancelled, "the caller no longer waits for it")) }
    }
}

/// A client's handler that will answer.
public struct HandlerWait: Sendable {
    /// The connection that registered the handler.
    public let client: any CallConnection
    /// The handler's name.
    public let handler: String
    /// Whether the client wants to be told when nobody waits for the answer any more.
    public let hearsCancel: Bool

    /// A handler of a connection; `hearsCancel` if it wants to be told that nobody waits any more.
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
