import Synchronization

/// A call that waits: its stack, what it awaits, and what may end the wait early.
///
/// Whatever comes first counts: the operation, the deadline, or an interruption. An operation that does not heed
/// its cancellation holds up nobody: the error goes out at once, and what the operation gives later is dropped.
final class WaitingCall: Sendable {
    private enum State {
        case waiting(Stack)
        case running
        /// Interrupted while command objects ran; the next wait ends with this.
        case interrupted(CommandError)
        case done
    }

    let id: String?
    let session: Session
    private let timeout: Duration?
    private let command: String
    private let controller: ApplicationController
    private let state: Mutex<State>
    private let firstOperation: Outcome.Operation
    private let interruption = Promise<Void>()

    /// What became of a call when an operation was over.
    private enum Turn {
        case waits(Outcome.Operation)
        case ended
        /// An interruption came first and ends the call.
        case taken
    }

    init(_ stack: Stack, _ operation: @escaping Outcome.Operation, _ controller: ApplicationController) {
        id = stack.call.request.id
        session = stack.call.session
        timeout = stack.entry.timeout
        command = stack.call.command
        state = Mutex(.waiting(stack))
        firstOperation = operation
        self.controller = controller
    }

    /// Ends the wait with an error, unless the call is over.
    func interrupt(_ error: CommandError) {
        interruption.fail(error)
    }

    /// Awaits the operations in turn until the stack is done. The last thing it does is to leave the session: not
    /// before the reply is out, whichever of its tasks sends it.
    func run() async {
        await withTaskGroup(of: Bool.self) { group in
            group.addTask { await self.perform() }
            group.addTask { await self.awaitInterruption() }
            if let timeout {
                group.addTask {
                    await self.awaitDeadline(timeout)
                    return false
                }
            }
            for await hasEndedCall in group where hasEndedCall { break }
            controller.didEnd(self)
            group.cancelAll()
        }
    }

    /// Ends a call that no task will run any more.
    func abandon(_ error: CommandError) {
        conclude(with: error)
        controller.didEnd(self)
    }

    /// Says whether it brought the call to its end.
    private func perform() async -> Bool {
        var operation = firstOperation
        while true {
            let result: Result<Outcome, CommandError>
            do throws(CommandError) {
                result = .success(try await operation())
            } catch {
                result = .failure(error)
            }
            switch goOn(with: result) {
            case .waits(let next): operation = next
            case .ended: return true
            case .taken: return false
            }
        }
    }

    private func awaitDeadline(_ timeout: Duration) async {
        do {
            try await Task.sleep(for: timeout)
        } catch {
            return
        }
        interrupt(CommandError(.timeout, "\(command) was not done within \(timeout.words)"))
    }

    /// Says whether it brought the call to its end.
    private func awaitInterruption() async -> Bool {
        do throws(CommandError) {
            try await interruption.value()
            return false
        } catch {
            return conclude(with: error)
        }
    }

    /// Ends the wait with an error, and says whether the call has thereby come to its end: while command objects
    /// run, the task that runs them will end it.
    @discardableResult
    private func conclude(with error: CommandError) -> Bool {
        let stack = state.withLock { state -> Stack? in
            switch state {
            case .waiting(let stack):
                state = .running
                return stack
            case .running:
                state = .interrupted(error)
                return nil
            case .interrupted, .done: return nil
            }
        }
        guard let stack else { return false }
        _ = go(stack, with: .failure(error), mayWait: false)
        return true
    }

    private func goOn(with result: Result<Outcome, CommandError>) -> Turn {
        let stack = state.withLock { state -> Stack? in
            guard case .waiting(let stack) = state else { return nil }
            state = .running
            return stack
        }
        guard let stack else { return .taken }
        return go(stack, with: result, mayWait: true).map(Turn.waits) ?? .ended
    }

    /// Drives the stack to its next wait, or to its end (then nil).
    ///
    /// An interrupted call does not wait again, for its caller has waited long enough: ECOs that wait are begun, and
    /// not awaited.
    private func go(
        _ stack: Stack,
        with result: Result<Outcome, CommandError>,
        mayWait: Bool
    ) -> Outcome.Operation? {
        var stack = stack
        var result = result
        var mayWait = mayWait
        while true {
            let step = stack.resume(with: result)
            let operation = controller.drive(&stack, from: step, session)
            let interruption = state.withLock { state -> CommandError? in
                guard operation != nil else {
                    state = .done
                    return nil
                }
                if case .interrupted(let error) = state {
                    state = .running
                    return error
                }
                guard mayWait else { return CommandError(.cancelled, "the call is over") }
                state = .waiting(stack)
                return nil
            }
            guard let interruption else { return operation }
            result = .failure(interruption)
            mayWait = false
        }
    }
}

extension Duration {
    /// `30 s`, `1.5 s`.
    var words: String {
        let (seconds, attoseconds) = components
        let value = Double(seconds) + Double(attoseconds) * 1e-18
        return Int64(exactly: value).map { "\($0) s" } ?? "\(value) s"
    }
}
