import JSON

/// Runs the stacks: sends their replies, and hands those that wait to ``WaitingCalls``.
struct ApplicationController: Sendable {
    let waitingCalls: WaitingCalls
    let observer: any CallObserver

    /// Keeps a call that waits.
    func keep(_ waiting: consuming Stack, awaiting wait: Wait, on connection: any RoutedConnection) {
        var stack = waiting
        stack.keep()
        let call = WaitingCall(for: stack, of: connection, self)
        waitingCalls.take(call)
        call.begin(stack, awaiting: wait)
    }

    /// The call has had its reply and no longer waits.
    func didEnd(_ call: WaitingCall) {
        call.connection.remove(call)
        waitingCalls.didEnd(call)
    }

    /// Resumes a stack that waited. Returns what to wait for if it waits again; nil at its end.
    func resume(
        _ stack: inout Stack,
        with outcome: Result<StepOutcome, CommandError>,
        _ connection: any RoutedConnection
    ) -> Wait? {
        if let reply = stack.resume(with: outcome) { send(reply, stack.call, connection) }
        return drive(&stack, connection)
    }

    /// Runs the stack and sends its replies. Returns what to wait for if it waits; nil at its end.
    func drive(_ stack: inout Stack, _ connection: any RoutedConnection) -> Wait? {
        while true {
            switch stack.advance() {
            case .reply(let reply): send(reply, stack.call, connection)
            case .wait(let wait): return wait
            case .finished:
                finish(stack, connection)
                return nil
            }
        }
    }

    private func finish(_ stack: borrowing Stack, _ connection: any RoutedConnection) {
        if stack.call.hasFailed { return finish(stack, with: stack.call.failure, connection) }
        reportOfEnd(stack)
        guard stack.isOwed, stack.call.borrowedRequest({ $0.hasID }) else { return }
        sendResult(of: stack.call, connection)
    }

    private func finish(_ stack: borrowing Stack, with error: CommandError, _ connection: any RoutedConnection) {
        observer.failed(stack.call, with: error)
        reportOfEnd(stack)
        let isFinal = stack.isOwed
        connection.write {
            $0.appendError(error, to: stack.call, isFinal: isFinal)
        }
    }

    private func reportOfEnd(_ stack: borrowing Stack) {
        if let began = stack.began {
            observer.ended(stack.call, after: Stack.now - began)
        } else if stack.call.isRefused || stack.call.hasFailed && stack.call.failure.code == .denied {
            observer.ended(stack.call, after: .zero)
        }
    }

    private func send(_ reply: Stack.Reply, _ call: borrowing Call, _ connection: any RoutedConnection) {
        connection.write {
            $0.appendReply(reply.message, to: call, under: reply.command, isFinal: reply.isFinal)
        }
    }

    /// The final reply of a call whose VCOs gave none.
    private func sendResult(of call: borrowing Call, _ connection: any RoutedConnection) {
        connection.write { $0.appendResult(of: call) }
    }
}
