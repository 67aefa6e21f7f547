internal import Concurrency
import JSON

/// A handler that a client registers, as a command object: `script:NAME` in a mapping.
///
/// In the business phase its answer is the result. In the view phase an answer other than `null`, or one with
/// `handlerName`, is the reply. `"end": true` ends the stack. An error in the validation phase is `invalid`;
/// elsewhere it keeps its code where that is one of ours, else it is `scriptFailed`.
public struct ScriptCommandObject: CommandObject {
    public let name: String
    public let phase: Phase
    public var waits: Bool { true }
    private let handlers: HandlerRegistry

    public init(_ name: String, phase: Phase, handlers: HandlerRegistry) {
        self.name = name
        self.phase = phase
        self.handlers = handlers
    }

    public func handle(_ call: borrowing Call) throws(CommandError) -> Outcome {
        guard let session = handlers.session(of: name) else {
            throw CommandError(.unavailable, "no client has registered the handler '\(name)'")
        }
        let promise = Promise<Outcome>()
        let handlerCall = HandlerCall(
            handler: name,
            data: call.request.data ?? .array(call.request.parameters),
            callbackId: "",
            command: call.command,
            phase: phase,
            results: call.results,
            error: call.error
        )
        let number = session.callHandler(handlerCall) { answer in
            promise.settle(
                answer.flatMap { answer in
                    Result { () throws(CommandError) in try outcome(answer) }
                }
            )
        }
        return .wait(.promise(promise) { session.forgetAnswer(number) })
    }

    private func outcome(_ answer: Result<HandlerAnswer, HandlerFailure>) throws(CommandError) -> Outcome {
        switch answer {
        case .failure(let failure): throw failure.error(of: name, in: phase)
        case .success(let answer):
            switch phase {
            case .view:
                let saysNothing = answer.value == .null && answer.replyCommand == nil
                if answer.ends { return saysNothing ? .end : .end(answer.value, under: answer.replyCommand) }
                return saysNothing ? .proceed : .reply(answer.value, under: answer.replyCommand)
            case .business: return answer.ends ? .end(answer.value) : .result(answer.value)
            case .validation, .error: return answer.ends ? .end : .proceed
            }
        }
    }
}

extension HandlerFailure {
    /// The error of a call that a handler failed.
    func error(of handler: String, in phase: Phase) -> CommandError {
        var details: JSONObject = ["handler": .string(handler)]
        details.merge(place)
        if let field { details["field"] = .string(field) }
        if phase == .validation {
            details["fields"] = field.map { [["field": .string($0), "expected": .string(message)]] }
            return CommandError(.invalid, message, details: details)
        }
        return CommandError(code ?? .scriptFailed, message, details: details)
    }
}
