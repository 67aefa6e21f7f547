/// Runs the stacks: sends what they reply, and hands those that wait to ``WaitingCalls``.
public struct ApplicationController: Sendable {
    private let waitingCalls: WaitingCalls
    private let observer: any CallObserver

    init(waitingCalls: WaitingCalls, observer: any CallObserver) {
        self.waitingCalls = waitingCalls
        self.observer = observer
    }

    /// Runs a call until it is done or waits.
    func run(_ stack: consuming Stack) {
        let session = stack.call.session
        let step = stack.advance()
        guard let wait = drive(&stack, from: step, session) else { return }
        let call = WaitingCall(stack, wait, self)
        if waitingCalls.take(call, of: session) { call.begin() }
    }

    /// Passes a call on whose stack is one handler.
    func relay(_ call: RelayedCall, of session: Session) {
        if waitingCalls.take(call, of: session) { call.begin() }
    }

    /// The call has had its reply, and waits no more.
    func didEnd(_ call: some PendingCall, _ session: Session) {
        session.remove(call)
        waitingCalls.didEnd(call)
    }

    /// A call has failed; its caller gets the error next.
    func didFail(_ call: borrowing Call, with error: CommandError) { observer.failed(call, with: error) }

    /// Runs what a waiting call awaits.
    func perform(_ body: @escaping @Sendable () async -> Void) { waitingCalls.perform(body) }

    /// Sends what the stack gives until it waits: then what to await, else nil.
    func drive(_ stack: inout Stack, from step: Stack.Step, _ session: Session) -> Outcome.Wait? {
        var step = step
        while true {
            switch step {
            case .reply(let reply):
                session.send(.reply(reply))
                step = stack.advance()
            case .wait(let wait): return wait
            case .finished(let reply):
                if let error = stack.call.error { observer.failed(stack.call, with: error) }
                let time = stack.began.map { $0.duration(to: .now) }
                if time != nil || stack.call.isRefused { observer.ended(stack.call, after: time ?? .zero) }
                if let reply { session.send(.reply(reply)) }
                return nil
            }
        }
    }
}

/// Sees the calls that fail, for the log and for `explain`.
public protocol CallObserver: Sendable {
    /// Called on any thread, before the caller gets the error. Must not block.
    func failed(_ call: borrowing Call, with error: CommandError)

    /// Called on any thread when a call that touches a device has come to its end, and when any call was refused
    /// by a rule (``Call/isRefused``). Must not block.
    /// - Parameter time: from the call's arrival to its end.
    func ended(_ call: borrowing Call, after time: Duration)
}

extension CallObserver {
    public func ended(_ call: borrowing Call, after time: Duration) {}
}
