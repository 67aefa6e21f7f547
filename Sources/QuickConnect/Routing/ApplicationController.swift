import Concurrency
import JSON

/// Runs the stacks: sends what they reply, and hands those that wait to ``WaitingCalls``.
struct ApplicationController: Sendable {
    private let waitingCalls: WaitingCalls
    private let observer: any CallObserver

    init(waitingCalls: WaitingCalls, observer: any CallObserver) {
        self.waitingCalls = waitingCalls
        self.observer = observer
    }

    /// Runs a call until it is done or waits.
    func run(_ stack: consuming Stack, on connection: any RoutedConnection) {
        var stack = stack
        let step = stack.advance()
        guard let wait = drive(&stack, from: step, connection) else { return }
        let call = WaitingCall(for: stack, of: connection, self)
        waitingCalls.take(call)
        call.begin(stack, awaiting: wait)
    }

    /// The call has had its reply, and waits no more.
    func didEnd(_ call: WaitingCall) {
        call.connection.remove(call)
        waitingCalls.didEnd(call)
    }

    /// Runs what a waiting call awaits.
    func perform(_ body: @escaping @Sendable () async -> Void) { waitingCalls.perform(body) }

    /// Sends what the stack gives until it waits: then what to await, else nil.
    func drive(_ stack: inout Stack, from step: Stack.Step, _ connection: any RoutedConnection) -> Wait? {
        var step = step
        while true {
            switch step {
            case .reply(let reply):
                send(reply, stack, connection)
                step = stack.advance()
            case .wait(let wait): return wait
            case .finished(let reply):
                if let error = stack.call.error { observer.failed(stack.call, with: error) }
                if let began = stack.began {
                    observer.ended(stack.call, after: Stack.now - began)
                } else if stack.call.isRefused || stack.call.error?.code == .denied {
                    observer.ended(stack.call, after: .zero)
                }
                if let reply { send(reply, stack, connection) }
                return nil
            }
        }
    }

    private func send(_ reply: Stack.Reply, _ stack: borrowing Stack, _ connection: any RoutedConnection) {
        connection.write { buffer in
            switch reply.body {
            case .value(let message, let command):
                buffer.appendReply(
                    message,
                    to: stack.call.request,
                    of: stack.call.description,
                    under: command,
                    isFinal: reply.isFinal
                )
            case .error(let error):
                buffer.appendError(error, to: stack.call.request, of: stack.call.command, isFinal: reply.isFinal)
            }
        }
    }
}
