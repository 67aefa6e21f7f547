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
        let answer = session.callHandler(name, for: call, phase: phase)
        return .wait { () async throws(CommandError) in try outcome(try await answer.value()) }
    }

    private func outcome(_ answer: Result<HandlerAnswer, HandlerFailure>) throws(CommandError) -> Outcome {
        switch answer {
        case .failure(let failure): throw error(failure)
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

    private func error(_ failure: HandlerFailure) -> CommandError {
        var details: JSONObject = ["handler": .string(name)]
        details.merge(failure.place)
        if let field = failure.field { details["field"] = .string(field) }
        if phase == .validation {
            details["fields"] = failure.field.map { [["field": .string($0), "expected": .string(failure.message)]] }
            return CommandError(.invalid, failure.message, details: details)
        }
        return CommandError(failure.code ?? .scriptFailed, failure.message, details: details)
    }
}
