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

extension Deferred where Failure == CommandError {
    /// A promise that fails if what begins with it fails.
    package static func attempt(_ begin: (Deferred) throws(CommandError) -> Void) -> Deferred {
        let promise = Deferred()
        do throws(CommandError) { try begin(promise) } catch { promise.fail(error) }
        return promise
    }
}

extension WatchedThread {
    /// Runs work there. What gives up is called in its place, or while it is blocked, or at once if no job is taken.
    package func run(
        _ step: String,
        _ work: @escaping @Sendable () -> Void,
        orElse giveUp: @escaping @Sendable (CommandError) -> Void
    ) {
        do throws(CommandError) { try run(Job(step: step, work: work, giveUp: giveUp)) } catch { giveUp(error) }
    }

    /// As ``start(_:)``, but throws the error that a caller gets.
    package func run(_ job: Job) throws(CommandError) {
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
