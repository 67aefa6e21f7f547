internal import Concurrency
import Synchronization

/// A call that waits: its stack, what it awaits, and what may end the wait early.
///
/// Whatever comes first counts: what it awaits, the deadline, or an interruption. Who brings it goes on with the stack,
/// on its own thread. An operation that does not heed its cancellation holds up nobody: the error goes out at once,
/// and what the operation gives later is dropped.
final class WaitingCall: PendingCall {
    private enum State {
        /// With what tells the awaited that nobody waits for it any more.
        case waiting(Stack, cancel: @Sendable () -> Void)
        case running
        /// Interrupted while command objects ran; the next wait ends with this.
        case interrupted(CommandError)
        case done
    }

    /// Something that is awaited, once.
    private struct Awaited {
        let wait: Outcome.Wait
        /// Ends an operation's task.
        let interruption = Promise<Void>()

        var cancel: @Sendable () -> Void {
            switch wait {
            case .operation:
                let interruption = interruption
                return { interruption.fulfil(()) }
            case .promise(let promise, let onCancel):
                return {
                    promise.fail(CommandError(.cancelled, "nobody waits for it any more"))
                    onCancel()
                }
            }
        }
    }

    let id: String?
    let session: Session
    let timeout: Duration?
    let command: String
    private let controller: ApplicationController
    private let first: Awaited
    private let state: Mutex<State>

    init(_ stack: Stack, _ wait: Outcome.Wait, _ controller: ApplicationController) {
        id = stack.call.request.id
        session = stack.call.session
        timeout = stack.entry.timeout
        command = stack.call.command
        first = Awaited(wait: wait)
        state = Mutex(.waiting(stack, cancel: first.cancel))
        self.controller = controller
    }

    /// Begins to wait. It may have been interrupted before.
    func begin() { await_(first) }

    func interrupt(_ error: CommandError) {
        let waiting = state.withLock { state -> (Stack, @Sendable () -> Void)? in
            switch state {
            case .waiting(let stack, let cancel):
                state = .running
                return (stack, cancel)
            case .running:
                state = .interrupted(error)
                return nil
            case .interrupted, .done: return nil
            }
        }
        guard let (stack, cancel) = waiting else { return }
        _ = go(stack, with: .failure(error), mayWait: false)
        cancel()
        controller.didEnd(self, session)
    }

    var isOver: Bool { state.withLock { if case .done = $0 { true } else { false } } }

    private func await_(_ awaited: Awaited) {
        switch awaited.wait {
        case .operation(let operation):
            controller.perform { await self.perform(operation, until: awaited.interruption) }
        case .promise(let promise, _): promise.whenSettled { self.settle($0) }
        }
    }

    /// Runs an operation as a task, which is cancelled when the call is interrupted.
    private func perform(_ operation: @escaping Outcome.Operation, until interruption: Promise<Void>) async {
        await withTaskCancellationHandler {
            await withTaskGroup(of: Void.self) { group in
                group.addTask {
                    do throws(CommandError) {
                        self.settle(.success(try await operation()))
                    } catch {
                        self.settle(.failure(error))
                    }
                }
                group.addTask { _ = try? await interruption.value() }
                await group.next()
                group.cancelAll()
            }
        } onCancel: {
            // All calls are cancelled; what does not heed that holds nobody up.
            interrupt(WaitingCalls.stopping)
        }
    }

    /// Goes on with what was awaited, unless something else came first.
    private func settle(_ result: Result<Outcome, CommandError>) {
        let stack = state.withLock { state -> Stack? in
            guard case .waiting(let stack, _) = state else { return nil }
            state = .running
            return stack
        }
        guard let stack else { return }
        if let next = go(stack, with: result, mayWait: true) { await_(next) } else { controller.didEnd(self, session) }
    }

    /// Drives the stack to its next wait, or to its end (then nil).
    ///
    /// An interrupted call does not wait again, for its caller has waited long enough: ECOs that wait are begun, and
    /// not awaited.
    private func go(
        _ stack: Stack,
        with result: Result<Outcome, CommandError>,
        mayWait: Bool
    ) -> Awaited? {
        var stack = stack
        var result = result
        var mayWait = mayWait
        while true {
            let step = stack.resume(with: result)
            let awaited = controller.drive(&stack, from: step, session).map(Awaited.init)
            let interruption = state.withLock { state -> CommandError? in
                guard let awaited else {
                    state = .done
                    return nil
                }
                if case .interrupted(let error) = state {
                    state = .running
                    return error
                }
                guard mayWait else { return CommandError(.cancelled, "the call is over") }
                state = .waiting(stack, cancel: awaited.cancel)
                return nil
            }
            guard let interruption else { return awaited }
            awaited?.cancel()
            result = .failure(interruption)
            mayWait = false
        }
    }
}
