public import Concurrency

/// A result that a device delivers later to a command object: a value, once, or an error that the caller gets.
public typealias Promise<Value: Sendable> = Deferred<Value, CommandError>

extension CommandError: InterruptionConvertible {
    /// The error of a wait that was interrupted.
    public init(_ interruption: Interruption) {
        let code: Code =
            switch interruption.kind {
            case .cancelled: .cancelled
            case .timedOut: .timeout
            case .unavailable: .unavailable
            case .misused: .internal
            }
        self.init(code, interruption.description)
    }
}

extension WatchedThread {
    /// As ``start(_:)``, but throws the error that a caller gets.
    public func run(_ job: Job) throws(CommandError) {
        do throws(Interruption) { try start(job) } catch { throw CommandError(error) }
    }
}

extension WatchedThread.Job {
    /// As the initializer whose `giveUp` takes an `Interruption`, but `giveUp` gets the error that a caller gets.
    public init(
        step: String,
        work: @escaping @Sendable () -> Void,
        giveUp: @escaping @Sendable (CommandError) -> Void
    ) {
        self.init(
            step: step,
            work: work,
            giveUp: { (interruption: Interruption) in giveUp(CommandError(interruption)) }
        )
    }
}
