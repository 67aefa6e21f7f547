import Linux
internal import QuickConnect

/// Where motion comes from.
protocol MotionSource: Sendable {
    /// Such as `the accelerometer`.
    var description: String { get }

    /// Throws `unsupported` where there is nothing that could tell motion, with what was looked at. Does not block.
    func check() throws(CommandError)

    /// Switches the sensor on. May block: only on a thread that is watched. Fails with `unsupported`, `unavailable` or
    /// `busy`.
    /// - Parameter rate: values a second; what comes may be more, never is much less where the sensor can.
    func open(rate: Double) throws(CommandError) -> any MotionStream

    /// What the doctor says of it. As for ``open(rate:)``.
    /// - Parameter goesOn: called between calls of a driver.
    func examine(_ goesOn: () -> Void) -> Finding
}

/// A sensor that is on. It is switched off with the last reference. One thread at a time uses it.
protocol MotionStream: AnyObject {
    /// A sentence for the log: which sensor it is, and how it is read.
    var description: String { get }
    /// How many values a second come.
    var rate: Double { get }

    /// Sleeps until the next value. No call of a driver takes longer than its reader's deadline; what takes several is done
    /// in several calls of this one.
    /// - Returns: nil where somebody used the waker, the time came, or there is only a part of the value yet.
    func next(_ waker: Waker, until end: ContinuousClock.Instant) throws(CommandError) -> Acceleration?
}
