/// One step of a command's stack: it does one thing.
///
/// A command object is a ``ValCO``, ``BCO``, ``VCO`` or ``ECO``, or one of their waiting variants. It is made once,
/// when the daemon starts, and gets its devices then. It keeps no state of a call.
///
/// A listener calls it on its event loop, for the calls of one connection in the order they were sent. After a command
/// object that waited, it is called on the thread that ended the wait. It must not block: it starts what takes time, in
/// that order, and returns something to await.
public protocol CommandObject: Sendable {
    /// Whether it uses a device or something a device has made. Such calls are written to the audit log.
    var touchesDevice: Bool { get }
}

extension CommandObject {
    /// False: most command objects touch no device.
    public var touchesDevice: Bool { false }
}

/// Checks whether the call is allowed and well formed. Throwing refuses it.
public protocol ValCO: CommandObject {
    func validate(_ call: borrowing Call) throws(CommandError) -> ValidationOutcome
}

/// Gets or changes something. Throwing ends the stack: the error phase runs, and the caller gets the error.
public protocol BCO: CommandObject {
    func handle(_ call: borrowing Call) throws(CommandError) -> BusinessOutcome
}

/// Shows the result to the caller. Throwing ends the stack, as for a ``BCO``.
public protocol VCO: CommandObject {
    func show(_ call: borrowing Call) throws(CommandError) -> ViewOutcome
}

/// Sees the error before the caller gets it.
public protocol ECO: CommandObject {
    func see(_ error: CommandError, of call: borrowing Call) throws(CommandError) -> ErrorOutcome
}

/// A ``ValCO`` that may have to wait.
public protocol WaitingValCO: CommandObject {
    func validate(_ call: borrowing Call) throws(CommandError) -> Awaited<ValidationOutcome>
}

/// A ``BCO`` that may have to wait.
public protocol WaitingBCO: CommandObject {
    func handle(_ call: borrowing Call) throws(CommandError) -> Awaited<BusinessOutcome>
}

/// A ``VCO`` that may have to wait.
public protocol WaitingVCO: CommandObject {
    func show(_ call: borrowing Call) throws(CommandError) -> Awaited<ViewOutcome>
}

/// An ``ECO`` that may have to wait.
public protocol WaitingECO: CommandObject {
    func see(_ error: CommandError, of call: borrowing Call) throws(CommandError) -> Awaited<ErrorOutcome>
}
