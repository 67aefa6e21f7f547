internal import QuickConnect

/// Where a motor comes from.
protocol MotorSource: Sendable {
    /// Such as `the motor`.
    var description: String { get }

    /// Looks for the motor, anew each time, and opens it. May block: only on a thread that is watched. Fails with
    /// `unsupported`, `denied` or `unavailable`.
    func open() throws(CommandError) -> any Motor

    /// What the doctor says of it. As for ``open()``.
    func examine() -> Finding
}

/// A motor that is open. It stops with the last reference. One thread at a time uses it.
protocol Motor: AnyObject {
    /// Watched for the motor's end; -1 where it has none.
    var descriptor: Int32 { get }

    /// Begins to vibrate, for so long. May block.
    func vibrate(milliseconds: Int) throws(MotorFailure)

    /// Stops vibrating, if it does.
    func rest() throws(MotorFailure)
}

/// Why a motor did not do what it was told.
struct MotorFailure: Error, Sendable {
    /// Such as `write: No such device (19)`.
    var reason: String
    var code: CommandError.Code
}
