import JSON
import Synchronization

/// A call whose whole stack is one handler of a client, as most commands of scripts are: it is passed on and its
/// answer back, by the rules of a stack that has nothing else in it.
///
/// It does what a ``WaitingCall`` would, and costs a third of that.
final class RelayedCall: PendingCall {
    private let request: Request
    private let session: Session
    private let handler: String
    private let handlerSession: Session
    private let controller: ApplicationController
    /// The number under which the handler's session awaits the answer.
    private let number = Atomic(0)
    private let isDone = Atomic(false)
    let timeout: Duration?

    var id: String? { request.id }
    var command: String { request.command }
    var isOver: Bool { isDone.load(ordering: .acquiring) }

    init(
        _ request: Request,
        from session: Session,
        to handler: String,
        of handlerSession: Session,
        timeout: Duration?,
        _ controller: ApplicationController
    ) {
        self.request = request
        self.session = session
        self.handler = handler
        self.handlerSession = handlerSession
        self.timeout = timeout
        self.controller = controller
    }

    /// Passes the call on.
    func begin() {
        let call = HandlerCall(
            handler: handler,
            data: request.data ?? .array(request.parameters),
            callbackId: "",
            command: request.command,
            phase: .business,
            results: []
        )
        let number = handlerSession.callHandler(call) { self.receive($0) }
        self.number.store(number, ordering: .releasing)
        // It may have been interrupted before the number was known.
        if isOver { handlerSession.forgetAnswer(number) }
    }

    func interrupt(_ error: CommandError) {
        guard end() else { return }
        handlerSession.forgetAnswer(number.load(ordering: .acquiring))
        fail(error)
    }

    /// Whether it was still to be ended.
    private func end() -> Bool { !isDone.exchange(true, ordering: .acquiringAndReleasing) }

    private func receive(_ answer: Result<Result<HandlerAnswer, HandlerFailure>, CommandError>) -> Bool {
        guard end() else { return false }
        switch answer {
        case .success(.success(let answer)):
            if request.id != nil { session.send(.reply(Reply(to: request, value: answer.value))) }
            controller.didEnd(self, session)
        case .success(.failure(let failure)): fail(failure.error(of: handler, in: .business))
        case .failure(let error): fail(error)
        }
        return true
    }

    private func fail(_ error: CommandError) {
        controller.didFail(Call(request: request, arguments: request.parameters, session: session), with: error)
        session.send(.reply(Reply(to: request, error: error)))
        controller.didEnd(self, session)
    }
}
