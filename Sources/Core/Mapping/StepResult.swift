import Concurrency
import JSON

/// What the result of a command object means for its stack.
enum StepResult: Sendable {
    /// The next command object runs.
    case next
    /// The stack ends.
    case end
    /// A reply is sent, and the stack may end.
    case reply(Message, under: String?, ends: Bool)
    case waits(Wait)
}

/// The outcome of a command object of any phase, after a wait.
enum StepOutcome: Sendable {
    case validation(ValidationOutcome)
    case business(BusinessOutcome)
    case view(ViewOutcome)
    case error(ErrorOutcome)
}

extension Call {
    mutating func take(_ outcome: consuming StepOutcome) -> StepResult {
        switch consume outcome {
        case .validation(let outcome): take(outcome)
        case .business(let outcome): take(outcome)
        case .view(let outcome): take(outcome)
        case .error(let outcome): take(outcome)
        }
    }

    mutating func take(_ outcome: consuming ValidationOutcome) -> StepResult {
        switch consume outcome {
        case .accept: return .next
        case .handOn(let value):
            handOn(value)
            return .next
        case .end: return .end
        }
    }

    mutating func take(_ outcome: consuming BusinessOutcome) -> StepResult {
        switch consume outcome {
        case .proceed: return .next
        case .result(let message, let command):
            results.append(message, under: command)
            return .next
        case .end(let message, let command):
            if let message { results.append(message, under: command) }
            return .end
        }
    }

    mutating func take(_ outcome: consuming ViewOutcome) -> StepResult {
        switch consume outcome {
        case .proceed: .next
        case .reply(let message, let command): .reply(message, under: command, ends: false)
        case .end(let message?, let command): .reply(message, under: command, ends: true)
        case .end(nil, _): .end
        }
    }

    mutating func take(_ outcome: ErrorOutcome) -> StepResult {
        switch outcome {
        case .proceed: .next
        case .end: .end
        }
    }
}

extension StepResult {
    /// If the outcome is already there, the call takes it.
    init<Outcome>(
        _ awaited: Awaited<Outcome>,
        of call: inout Call,
        _ wrap: @escaping @Sendable (Outcome) -> StepOutcome
    ) {
        switch awaited {
        case .now(let outcome): self = call.take(wrap(outcome))
        case .operation(let operation):
            self = .waits(
                .operation {
                    do throws(CommandError) { return .success(wrap(try await operation())) } catch {
                        return .failure(error)
                    }
                }
            )
        case .promise(let promise, let onCancel):
            self = .waits(
                .promise(
                    whenSettled: { settle in promise.whenSettled { settle($0.map(wrap)) } },
                    cancel: {
                        promise.fail(CommandError(.cancelled, "the caller no longer waits for it"))
                        onCancel()
                    }
                )
            )
        case .handler(let wait): self = .waits(.handler(wait))
        }
    }
}

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
        details.merge(self.details)
        if let field { details["field"] = .string(field) }
        if phase == .validation {
            details["fields"] = field.map { [["field": .string($0), "expected": .string(message)]] }
            return CommandError(.invalid, message, details: details)
        }
        return CommandError(code ?? .scriptFailed, message, details: details)
    }
}
