public import Concurrency
public import JSON

/// The four phases of a stack, in the order they run. The error phase runs only when another one failed.
public enum Phase: String, Sendable, CaseIterable {
    /// ValCOs: may it be done, is it well formed?
    case validation
    /// BCOs: get or change something.
    case business
    /// VCOs: show it to the caller.
    case view
    /// ECOs: see the error before the caller gets it.
    case error
}

/// What a command object made of a call.
public enum Outcome: Sendable {
    /// Done; the next command object runs.
    case proceed
    /// A BCO's result. It is appended to ``Call/results`` for the command objects behind.
    case result(JSONValue)
    /// A VCO's reply, under the command it names or the call's own.
    case reply(JSONValue, under: String?)
    /// Ends the stack: a BCO's with this result and no view phase, a VCO's with this reply (none where nil).
    case end(JSONValue?, under: String? = nil)
    /// The outcome comes later. Only an object whose ``CommandObject/waits`` is true may say so.
    case wait(Wait)

    /// What a waiting call awaits.
    public enum Wait: Sendable {
        /// Runs as a task.
        case operation(Operation)
        /// Is settled by somebody else, with no task in between. Where nobody waits any more it fails with
        /// `cancelled`, and `onCancel` is called.
        case promise(Promise<Outcome>, onCancel: @Sendable () -> Void)
    }

    public static func wait(_ operation: @escaping Operation) -> Outcome { .wait(.operation(operation)) }

    /// What a waiting call awaits. It is cancelled by `cancel`, by the call's timeout, by the end of its
    /// connection, and when the daemon stops; what it then throws is of no interest.
    public typealias Operation = @Sendable () async throws(CommandError) -> Outcome

    public static func reply(_ value: JSONValue) -> Outcome { .reply(value, under: nil) }
    public static var end: Outcome { .end(nil) }
}

/// One step that a command is mapped to: does one thing, and does it well.
///
/// A command object is made once, when the daemon starts, and gets its devices then. It keeps nothing of a call.
public protocol CommandObject: Sendable {
    /// The phase that it belongs to. A mapping that names it under another is a mistake.
    var phase: Phase { get }

    /// Whether ``handle(_:)`` may answer ``Outcome/wait(_:)``.
    var waits: Bool { get }

    /// Whether it uses a device or what a device has made: such calls are written to the audit log.
    var touchesDevice: Bool { get }

    /// Handles one call. Throwing ends the stack: the error phase runs, and the caller gets the error.
    ///
    /// Called by a listener on its event loop, for the calls of one connection in the order they were sent, so it
    /// must not block: what takes time is begun here, in that order, and awaited in the operation it returns.
    func handle(_ call: borrowing Call) throws(CommandError) -> Outcome
}

extension CommandObject {
    public var waits: Bool { false }
    public var touchesDevice: Bool { false }
}

/// A call on its way through its stack, as its command objects see it.
public struct Call: Sendable {
    public let request: Request
    /// The parameters as declared: defaults filled in, `null` where an optional one was left out before another.
    /// Where the mapping declares none, the parameters as they were sent.
    public internal(set) var arguments: [JSONValue]
    /// The results of the BCOs that have run.
    public internal(set) var results: [JSONValue] = []
    /// In the error phase, why the call failed.
    public internal(set) var error: CommandError?
    /// Whether a rule refused it, so that none of its command objects ran.
    public internal(set) var isRefused = false
    /// The connection that the call came on.
    public let session: Session

    public var command: String { request.command }
    public var caller: Caller { session.caller }

    /// The argument at an index, nil where it was left out.
    public subscript(index: Int) -> JSONValue? {
        guard index < arguments.count, arguments[index] != .null else { return nil }
        return arguments[index]
    }
}
