import JSON
import Synchronization

/// Keeps the last failure of each command, for `explain`.
public final class FailureLog: CallObserver {
    /// The last failure of a command.
    public struct Failure: Sendable {
        /// The error that its caller got.
        public var error: CommandError
        /// The caller.
        public var caller: Caller
        /// When it failed.
        public var time: ContinuousClock.Instant
    }

    /// Handlers come and go under any name, so what is kept of them must not grow without limit.
    private static let capacity = 1024
    private static let longestName = 128

    private let failures = Mutex<[ByteName: Failure]>([:])
    private let next: (any CallObserver)?

    init(next: (any CallObserver)?) { self.next = next }

    /// Stores the failure, replacing an older one of the same command.
    public func failed(_ call: borrowing Call, with error: CommandError) {
        // A refused call of a guest is not a failure of the command, and an unknown command may have any name.
        let isOfCommand = error.code != .unknownCommand && !(call.isRefused && call.connection.socketRule != nil)
        if isOfCommand, call.command.utf8.count <= Self.longestName {
            let failure = Failure(error: error, caller: call.caller, time: .now)
            let command = ByteName(call.command)
            failures.withLock { failures in
                if failures.count >= Self.capacity, failures[command] == nil { failures.removeAll() }
                failures[command] = failure
            }
        }
        next?.failed(call, with: error)
    }

    /// Passes it on to the next observer.
    public func ended(_ call: borrowing Call, after time: Duration) { next?.ended(call, after: time) }

    func last(of command: String) -> Failure? { failures.withLock { $0[ByteName(command)] } }
}
