/// One step that a command is mapped to: does one thing, and does it well.
///
/// A command object is one of ``ValCO``, ``BCO``, ``VCO`` and ``ECO``, or of their kinds that wait. It is made once, when
/// the daemon starts, and gets its devices then. It keeps nothing of a call.
///
/// It is called by a listener on its event loop, for the calls of one connection in the order they were sent, or, behind
/// another one that waited, on the thread that ended the wait. It must not block: what takes time is begun here, in that
/// order, and awaited.
public protocol CommandObject: Sendable {
    /// Whether it uses a device or what a device has made: such calls are written to the audit log.
    var touchesDevice: Bool { get }
}

extension CommandObject {
    /// False: most command objects touch no device.
    public var touchesDevice: Bool { false }
}

/// May it be done, is it well formed? Throwing refuses the call.
public protocol ValCO: CommandObject {
    func validate(_ call: borrowing Call) throws(CommandError) -> ValidationOutcome
}

/// Gets or changes something. Throwing ends the stack: the error phase runs, and the caller gets the error.
public protocol BCO: CommandObject {
    func handle(_ call: borrowing Call) throws(CommandError) -> BusinessOutcome
}

/// Shows it to the caller. Throwing ends the stack, as for a ``BCO``.
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
