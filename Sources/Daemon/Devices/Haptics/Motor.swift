internal import QuickConnect

/// A source of motors.
protocol MotorSource: Sendable {
    /// Such as `the motor`.
    var description: String { get }

    /// Searches for the motor each time, and opens it. May block: only on a watched thread. Fails with `unsupported`,
    /// `denied` or `unavailable`.
    func open() throws(CommandError) -> any Motor

    /// The doctor's finding. As for ``open()``.
    func examine() -> Finding
}

/// An open motor. It stops with the last reference. Used by one thread at a time.
protocol Motor: AnyObject {
    /// Polled for the removal of the motor; -1 if it has none.
    var descriptor: Int32 { get }

    /// Starts vibrating for that time. May block.
    func vibrate(milliseconds: Int) throws(MotorFailure)

    /// Stops vibrating.
    func rest() throws(MotorFailure)
}

/// Why a motor failed.
struct MotorFailure: Error, Sendable {
    /// Such as `write: No such device (19)`.
    var reason: String
    var code: CommandError.Code
}
