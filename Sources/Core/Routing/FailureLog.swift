internal import DequeModule
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
        /// How often the command has failed since it is kept here.
        public var count = 1
        /// Its number among all failures.
        fileprivate var number = 0
    }

    /// The failures by command. Keeps the latest of them.
    private struct Failures {
        private(set) var ofCommands: [ByteName: Failure] = [:]
        /// The commands in the order of their failures; of a command with several the last one counts.
        private var order: Deque<(command: ByteName, number: Int)> = []
        private var count = 0

        mutating func add(_ new: Failure, of command: ByteName) {
            var failure = new
            count += 1
            failure.number = count
            failure.count = (ofCommands[command]?.count ?? 0) + 1
            ofCommands[command] = failure
            order.append((command, count))
            while ofCommands.count > FailureLog.capacity { dropFirst() }
            if order.count > 2 * FailureLog.capacity { order.removeAll { ofCommands[$0.command]?.number != $0.number } }
        }

        private mutating func dropFirst() {
            guard let first = order.popFirst(), ofCommands[first.command]?.number == first.number else { return }
            ofCommands[first.command] = nil
        }
    }

    /// Handlers come and go under any name, so what is kept of them must not grow without limit.
    private static let capacity = 1024
    private static let maxName = 128

    private let failures = Mutex(Failures())
    private let next: (any CallObserver)?

    init(next: (any CallObserver)?) { self.next = next }

    /// Stores the failure, replacing an older one of the same command.
    public func failed(_ call: borrowing Call, with error: CommandError) {
        // A refused call of a guest is not a failure of the command, and an unknown command may have any name.
        let isOfCommand = error.code != .unknownCommand && !(call.isRefused && call.connection.socketRule != nil)
        if isOfCommand, call.command.utf8.count <= Self.maxName {
            let failure = Failure(error: error, caller: call.caller, time: .now)
            let command = ByteName(call.command)
            failures.withLock { $0.add(failure, of: command) }
        }
        next?.failed(call, with: error)
    }

    /// Passes it on to the next observer.
    public func ended(_ call: borrowing Call, after time: Duration) { next?.ended(call, after: time) }

    func last(of command: String) -> Failure? { failures.withLock { $0.ofCommands[ByteName(command)] } }
}

/// Is told of calls that fail, for the log and for `explain`.
public protocol CallObserver: Sendable {
    /// Called on any thread, before the caller gets the error. Must not block.
    func failed(_ call: borrowing Call, with error: CommandError)

    /// Called on any thread when a call that touches a device has ended, and when any call was refused, either by a
    /// rule of its mapping (``Call/isRefused``) or by a command object (`denied`). Must not block.
    /// - Parameter time: the time from the call's arrival to its end.
    func ended(_ call: borrowing Call, after time: Duration)
}

extension CallObserver {
    /// Does nothing: an observer may be interested in failures only.
    public func ended(_ call: borrowing Call, after time: Duration) {}
}
