import Concurrency
import JSON

/// What a stack waits for, in any phase.
enum Wait: Sendable {
    typealias Settlement = @Sendable (Result<StepOutcome, CommandError>) -> Void

    /// Runs as a task.
    case operation(@Sendable () async -> Result<StepOutcome, CommandError>)
    /// Other code settles it.
    case promise(whenSettled: @Sendable (@escaping Settlement) -> Void, cancel: @Sendable () -> Void)
    /// A client's handler answers.
    case handler(HandlerWait)
}

extension StepOutcome {
    /// What a handler's answer means in a phase.
    init(_ answer: HandlerAnswer, in phase: Phase) {
        switch phase {
        case .validation: self = .validation(answer.ends ? .end : .accept)
        case .business:
            let (message, command) = (answer.message, answer.replyCommand)
            self = .business(answer.ends ? .end(message, under: command) : .result(message, under: command))
        case .view:
            let saysNothing = answer.message.isNull && answer.replyCommand == nil
            let message = saysNothing ? nil : answer.message
            if answer.ends {
                self = .view(.end(message, under: answer.replyCommand))
            } else {
                self = .view(message.map { .reply($0, under: answer.replyCommand) } ?? .proceed)
            }
        case .error: self = .error(answer.ends ? .end : .proceed)
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
