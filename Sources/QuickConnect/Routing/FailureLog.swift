import JSON
import Synchronization

/// Keeps the last failure of each command, for `explain`.
public final class FailureLog: CallObserver {
    public struct Failure: Sendable {
        public var error: CommandError
        public var caller: Caller
        public var time: ContinuousClock.Instant
    }

    /// Handlers come and go under any name; what is kept of them must not grow for ever.
    private static let capacity = 1024
    private static let longestName = 128

    private let failures = Mutex<[ByteName: Failure]>([:])
    private let next: (any CallObserver)?

    init(next: (any CallObserver)?) { self.next = next }

    public func failed(_ call: borrowing Call, with error: CommandError) {
        // What guests ask for is no failure of the command, and may be any name.
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

    public func ended(_ call: borrowing Call, after time: Duration) { next?.ended(call, after: time) }

    func last(of command: String) -> Failure? { failures.withLock { $0[ByteName(command)] } }
}
