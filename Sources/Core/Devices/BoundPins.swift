/// What values are bound to. One thread uses each of them; `open` may be called again after a failure.
package protocol BoundPins: Sendable {
    /// Throws `unavailable` where it is not there, `busy` where another program has it, and `denied` where this one may not.
    /// - Parameters:
    ///   - name: the value's, which shows whose it is.
    ///   - value: what it is set to at once, in the value's own unit.
    func openOutput(
        _ name: String,
        _ declaration: ValueDeclaration,
        value: Double
    ) throws(CommandError) -> any OutputPin
    /// The same for what is read.
    func openInput(_ name: String, _ binding: GPIOBinding) throws(CommandError) -> any InputPin
    func openSensor(_ name: String, _ binding: SensorBinding) -> any SensorInput
    /// What is read from now on, by the names of the values. Called before any of it is opened.
    func declare(inputs: [String: ValueDeclaration])
}

extension BoundPins {
    /// Does nothing: hardware is found when it is opened.
    package func declare(inputs: [String: ValueDeclaration]) {}
}

/// What a value is written to. A call takes microseconds, as a rule.
package protocol OutputPin: AnyObject {
    /// - Parameter value: 0 or 1 of a boolean, else a number within the bounds of the declaration.
    func write(_ value: Double) throws(CommandError)
    /// Whether it has gone, where that can be seen without a write.
    var isGone: Bool { get }
    /// It is not used any more; it keeps what it was set to.
    func close()
}

extension OutputPin {
    /// The next write sees it.
    package var isGone: Bool { false }
}

/// A line that is read.
package protocol InputPin: AnyObject {
    func read() throws(CommandError) -> Bool
    /// Begins or ends to record edges.
    func watch(_ isWatching: Bool) throws(CommandError)
    /// What poll(2) watches; negative: nothing.
    var descriptor: Int32 { get }
    /// Whether it has gone, where that can be seen without reading it.
    var isGone: Bool { get }
    /// The edges since the last time, and how many were lost before them.
    func edges() throws(CommandError) -> (states: [Bool], lost: Int)
    func close()
}

extension InputPin {
    /// The next read sees it.
    package var isGone: Bool { false }
}

/// A sensor, which may take its time to be read.
package protocol SensorInput: Sendable {
    func read() throws(CommandError) -> Double
}
