import Concurrency
import JSON
import Synchronization

/// A waiting call: its stack, what it waits for, and what may end the wait early.
///
/// The first of these ends the wait: the awaited outcome, the deadline, or an interruption. The thread that delivers it
/// resumes the stack. An operation that ignores its cancellation blocks nobody: the error is sent at once, and the
/// operation's later result is dropped.
///
/// If a client's handler is awaited, the call itself receives the answer.
final class WaitingCall: Sendable {
    private typealias Outcome = Result<StepOutcome, CommandError>

    private struct State: ~Copyable, Sendable {
        /// Set while it waits.
        var waiting: Waiting?
        /// Set while its command objects run: the error that the next wait ends with.
        var interruption: CommandError?
        /// Whether a handler is being called; its answer may arrive before that call returns.
        var isCalling = false
        var answer: HandlerOutcome?
        var isDone = false

        var isRunning: Bool { waiting == nil && !isDone }
    }

    private struct Waiting: ~Copyable, Sendable {
        var stack: Stack
        let awaited: Awaited
    }

    /// What it waits for, and how to cancel that.
    private enum Awaited: Sendable {
        case operation(interruption: Promise<Void>)
        case promise(cancel: @Sendable () -> Void)
        case handler(HandlerWait, Phase, number: Int)

        func cancel() {
            switch self {
            case .operation(let interruption): interruption.fulfil(())
            case .promise(let cancel): cancel()
            case .handler(let wait, _, let number): wait.cancel(number)
            }
        }
    }

    let connection: any RoutedConnection
    let command: String
    let timeout: Duration?
    /// The id that `cancel` names.
    let id: String?
    /// The memory that its message uses, in bytes.
    let messageBytes: Int
    private let controller: ApplicationController
    private let state = Mutex(State())

    /// - Parameter stack: the one later passed to ``begin(_:awaiting:)``.
    init(for stack: borrowing Stack, of connection: any RoutedConnection, _ controller: ApplicationController) {
        command = stack.call.command
        timeout = stack.timeout
        id = stack.call.request.id
        messageBytes = stack.call.request.memory
        self.connection = connection
        self.controller = controller
    }

    /// Whether it has had its reply.
    var isOver: Bool { state.withLock { $0.isDone } }

    /// Starts the wait. The call may already have been interrupted.
    func begin(_ stack: consuming Stack, awaiting wait: Wait) {
        if let error = takeInterruption() {
            abandon(wait, stack)
            go(stack, with: .failure(error), mayWait: false)
        } else {
            switch park(wait, stack) {
            case .waits: break
            case .answered(let stack, let outcome): go(stack, with: outcome, mayWait: true)
            case .interrupted(let stack, let error): go(stack, with: .failure(error), mayWait: false)
            }
        }
    }

    /// Ends the call because its command's timeout has passed.
    func endWithTimeout() {
        guard let timeout else { return }
        interrupt(CommandError(.timeout, "\(command) was not done within \(timeout.words)"))
    }

    /// Ends the wait with an error, unless the call has ended.
    func interrupt(_ error: CommandError) {
        let waiting = state.withLock { state in
            if state.isRunning, state.interruption == nil { state.interruption = error }
            return state.waiting.take()
        }
        guard let waiting else { return }
        let awaited = waiting.awaited
        go(waiting.stack, with: .failure(error), mayWait: false)
        awaited.cancel()
    }

    private func takeInterruption() -> CommandError? { state.withLock { $0.interruption.take() } }

    // MARK: Waiting

    /// The result of starting a wait.
    private enum Beginning: ~Copyable {
        /// The stack is kept until the outcome arrives.
        case waits
        /// The outcome is already there.
        case answered(Stack, Outcome)
        case interrupted(Stack, CommandError)

        var isWaiting: Bool {
            switch self {
            case .waits: true
            case .answered: false
            case .interrupted: false
            }
        }
    }

    private func park(_ wait: Wait, _ stack: consuming Stack) -> Beginning {
        switch wait {
        case .operation(let operation):
            let interruption = Promise<Void>()
            let beginning = keep(stack, .operation(interruption: interruption))
            if beginning.isWaiting {
                controller.waitingCalls.perform { await self.perform(operation, until: interruption) }
            }
            return beginning
        case .promise(let whenSettled, let cancel):
            let beginning = keep(stack, .promise(cancel: cancel))
            if beginning.isWaiting { whenSettled { self.settle($0) } }
            return beginning
        case .handler(let wait):
            let phase = stack.phase
            state.withLock { $0.isCalling = true }
            let number = wait.client.callHandler(wait.handler, stack.call, in: phase, for: self)
            return keep(stack, .handler(wait, phase, number: number))
        }
    }

    private func keep(_ stack: consuming Stack, _ awaited: Awaited) -> Beginning {
        var slot: Stack? = stack
        let (answer, interruption) = state.withLock { state -> (HandlerOutcome?, CommandError?) in
            state.isCalling = false
            let answer = state.answer.take()
            let interruption = state.interruption.take()
            if answer == nil, interruption == nil, let stack = slot.take() {
                state.waiting = Waiting(stack: stack, awaited: awaited)
            }
            return (answer, interruption)
        }
        guard let stack = slot.take() else { return .waits }
        if let interruption {
            awaited.cancel()
            return .interrupted(stack, interruption)
        }
        guard let answer, case .handler(let wait, let phase, _) = awaited else { return .waits }
        return .answered(stack, Self.outcome(answer, of: wait, in: phase))
    }

    /// Starts what a stack would wait for, without waiting for it. An operation is started for an ECO alone: any other
    /// would do what the interrupted call does not ask for any more.
    private func abandon(_ wait: Wait, _ stack: borrowing Stack) {
        switch wait {
        case .operation(let operation):
            if stack.phase == .error { controller.waitingCalls.performUnawaited { _ = await operation() } }
        case .promise(_, let cancel): cancel()
        case .handler(let wait):
            let number = wait.client.callHandler(wait.handler, stack.call, in: stack.phase, for: self)
            wait.client.forgetAnswer(number)
        }
    }

    /// Runs an operation as a task, which is cancelled when the call is interrupted.
    private func perform(
        _ operation: @escaping @Sendable () async -> Outcome,
        until interruption: Promise<Void>
    ) async {
        await withTaskCancellationHandler {
            await withTaskGroup(of: Void.self) { group in
                group.addTask { self.settle(await operation()) }
                group.addTask { _ = try? await interruption.value() }
                await group.next()
                group.cancelAll()
            }
        } onCancel: {
            // The daemon is stopping and cancels all calls; an operation that ignores that must not delay the end.
            interrupt(WaitingCalls.stopping)
        }
    }

    /// Resumes with the awaited outcome, unless something else came first.
    private func settle(_ outcome: Outcome) {
        guard let waiting = state.withLock({ $0.waiting.take() }) else { return }
        go(waiting.stack, with: outcome, mayWait: true)
    }

    // MARK: Running

    /// Drives the stack to its next wait, or to its end.
    ///
    /// An interrupted call does not wait again, because its caller has waited long enough: waiting ECOs are started but
    /// not awaited.
    private func go(_ first: consuming Stack, with outcome: Outcome, mayWait: Bool) {
        go(mayWait ? .answered(first, outcome) : .interrupted(first, Self.error(outcome)))
    }

    /// At most as deep as the call has command objects. Not a loop: Swift 6.2 with assertions does not compile a variable
    /// that is consumed in one.
    private func go(_ beginning: consuming Beginning) {
        switch consume beginning {
        case .waits: return
        case .answered(let stack, let outcome): go(resume(stack, with: outcome, mayWait: true))
        case .interrupted(let stack, let error): go(resume(stack, with: .failure(error), mayWait: false))
        }
    }

    private static func error(_ outcome: Outcome) -> CommandError {
        if case .failure(let error) = outcome { error } else { over }
    }

    private static var over: CommandError { CommandError(.cancelled, "the call is over") }

    /// Runs the stack to its next wait, and starts that; `waits` is also returned at the stack's end.
    private func resume(_ stack: consuming Stack, with outcome: Outcome, mayWait: Bool) -> Beginning {
        var stack = stack
        guard let wait = controller.resume(&stack, with: outcome, connection) else {
            state.withLock { $0.isDone = true }
            controller.didEnd(self)
            return .waits
        }
        guard let error = takeInterruption() ?? (mayWait ? nil : Self.over) else { return park(wait, stack) }
        abandon(wait, stack)
        return .interrupted(stack, error)
    }
}

extension WaitingCall: AnswerReceiver {
    func receive(_ outcome: HandlerOutcome, number: Int) -> Bool {
        var isAwaited = false
        let waiting = state.withLock { state -> Waiting? in
            if state.isCalling {
                state.answer = outcome
                isAwaited = true
                return nil
            }
            guard let awaited = state.waiting?.awaited, case .handler(_, _, number) = awaited else { return nil }
            return state.waiting.take()
        }
        guard let waiting else { return isAwaited }
        guard case .handler(let wait, let phase, _) = waiting.awaited else { return false }
        go(waiting.stack, with: Self.outcome(outcome, of: wait, in: phase), mayWait: true)
        return true
    }

    private static func outcome(_ outcome: HandlerOutcome, of wait: HandlerWait, in phase: Phase) -> Outcome {
        switch outcome {
        case .lost(let error): return .failure(error)
        case .failure(let failure): return .failure(failure.error(of: wait.handler, in: phase))
        case .answer(var answer):
            // The published bridge sends the handler's own name with each answer. That must not rename the reply.
            if let command = answer.replyCommand, ByteName(command) == ByteName(wait.handler) {
                answer.replyCommand = nil
            }
            return .success(StepOutcome(answer, in: phase))
        }
    }
}
