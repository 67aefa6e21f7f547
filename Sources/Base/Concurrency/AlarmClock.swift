/// Calls back later, without a task that sleeps.
package protocol AlarmClock: Sendable {
    /// Runs `body` after that time, on any thread. It must not block.
    func ring(after time: Duration, _ body: @escaping @Sendable () -> Void)
}
