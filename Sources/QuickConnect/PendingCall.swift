internal import Concurrency

/// A call that has had no final reply yet, as its session and its deadline know it.
protocol PendingCall: AnyObject, Sendable {
    var id: String? { get }
    /// How long it may wait.
    var timeout: Duration? { get }
    var command: String { get }
    /// Whether it has had its reply.
    var isOver: Bool { get }

    /// Ends the wait with an error, unless the call is over.
    func interrupt(_ error: CommandError)
}

extension PendingCall {
    /// Its command's time is over.
    func endWithTimeout() {
        guard let timeout else { return }
        interrupt(CommandError(.timeout, "\(command) was not done within \(timeout.words)"))
    }
}
