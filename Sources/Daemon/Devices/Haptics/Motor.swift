import Concurrency
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

    /// Starts vibrating for that time. May block. Errors are such as `write: No such device (19)`.
    func vibrate(milliseconds: Int) throws(CommandError)

    /// Stops vibrating.
    func rest() throws(CommandError)
}

/// Plays one pattern on a motor. Sleeps in poll(2) between the steps, until it is woken or the motor goes away.
struct PatternPlayer {
    let waker: Waker
    /// Checked after each sleep.
    let isWanted: () -> Bool

    /// The longest sleep: its thread must regularly report that it is alive.
    static let maxSleep = Duration.seconds(2)

    /// Returns when the pattern is over, or no longer wanted. The motor is then off.
    func play(_ pattern: VibrationPattern, on motor: any Motor) throws(CommandError) {
        var end = ContinuousClock.now
        for (index, milliseconds) in pattern.milliseconds.enumerated() {
            // Each time is counted from the beginning, so that delays do not add up.
            end += .milliseconds(milliseconds)
            let vibrates = index.isMultiple(of: 2) && milliseconds > 0
            if vibrates { try motor.vibrate(milliseconds: milliseconds) }
            let goesOn = try sleep(until: end, motor)
            if vibrates { try motor.rest() }
            guard goesOn else { return }
        }
    }

    /// - Returns: whether the pattern goes on.
    private func sleep(until end: ContinuousClock.Instant, _ motor: any Motor) throws(CommandError) -> Bool {
        while isWanted() {
            let now = ContinuousClock.now
            guard now < end else { return true }
            if waker.sleep(watching: motor.descriptor, for: .end, until: min(end, now + Self.maxSleep)) {
                throw CommandError(.unavailable, "it was unplugged")
            }
        }
        return false
    }
}
