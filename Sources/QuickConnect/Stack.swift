import JSON

/// One call on its way through the command objects of its command: the rules of docs/stack.md as a value.
///
/// It does nothing by itself: whoever drives it sends the replies it gives and awaits the operations it names.
struct Stack: Sendable {
    enum Step: Sendable {
        /// Send this, then advance.
        case reply(Reply)
        /// Await this, then resume.
        case wait(Outcome.Wait)
        /// The end, with the final reply where one is still due.
        case finished(Reply?)
    }

    let entry: MappingEntry
    /// When it began, where the observer is told of its end.
    let began: ContinuousClock.Instant?
    private(set) var call: Call
    private var steps: [MappingEntry.Step]
    private var index = 0
    /// Whether a VCO has given the call's one final reply.
    private var hasReplied = false
    /// Whether ECOs that wait are left out, because the connection has no room for a waiting call.
    var leavesOutWaitingErrorSteps = false

    /// A stack at its first command object.
    init(_ entry: MappingEntry, _ call: consuming Call) {
        self.entry = entry
        began = entry.touchesDevice ? .now : nil
        self.call = call
        self.steps = entry.steps
    }

    /// The arguments, once the declared parameters have been checked.
    var arguments: [JSONValue] {
        get { call.arguments }
        set { call.arguments = newValue }
    }

    /// Runs until there is something to do for the driver.
    mutating func advance() -> Step {
        while index < steps.count {
            let step = steps[index]
            index += 1
            if leavesOutWaitingErrorSteps, step.phase == .error, step.object.waits { continue }
            let outcome: Outcome
            do {
                outcome = try step.object.handle(call)
            } catch {
                fail(error, in: step)
                continue
            }
            if let next = apply(outcome, of: step) { return next }
        }
        return .finished(finalReply)
    }

    /// Goes on after a wait.
    mutating func resume(with result: Result<Outcome, CommandError>) -> Step {
        guard index > 0, index <= steps.count else { return advance() }
        let step = steps[index - 1]
        switch result {
        case .success(let outcome):
            if let next = apply(outcome, of: step) { return next }
        case .failure(let error): fail(error, in: step)
        }
        return advance()
    }

    /// Ends the call with an error of a rule.
    mutating func refuse(_ error: CommandError) {
        call.isRefused = true
        fail(error)
    }

    /// Ends the three phases with an error, which the error phase then sees. An error in the error phase itself
    /// only skips the command object that failed.
    mutating func fail(_ error: CommandError) {
        guard call.error == nil else { return }
        call.error = error
        steps = entry.errorSteps
        index = 0
    }

    private mutating func fail(_ error: CommandError, in step: MappingEntry.Step) {
        fail(step.phase == .validation ? error.asRefusal : error)
    }

    private mutating func apply(_ outcome: Outcome, of step: MappingEntry.Step) -> Step? {
        switch outcome {
        case .proceed: return nil
        case .result(let value):
            guard step.phase == .business else { return mistake(of: step, "gives a result, but is no BCO") }
            call.results.append(value)
            return nil
        case .reply(let value, let command):
            guard step.phase == .view else { return mistake(of: step, "replies, but is no VCO") }
            return .reply(reply(value, under: command))
        case .end(let value, let command):
            index = steps.count
            guard let value else { return nil }
            switch step.phase {
            case .view: return .reply(reply(value, under: command))
            case .business: call.results.append(value)
            case .validation, .error: return mistake(of: step, "ends the stack with a value, but is no BCO or VCO")
            }
            return nil
        case .wait(let operation):
            guard step.object.waits else { return mistake(of: step, "waits without saying that it may") }
            return .wait(operation)
        }
    }

    /// A command object that does what its phase may not.
    private mutating func mistake(of step: MappingEntry.Step, _ what: String) -> Step? {
        fail(CommandError(.internal, "\(step.name) \(what)"))
        return nil
    }

    /// The first is the call's final reply; further ones go out without id.
    private mutating func reply(_ value: JSONValue, under command: String?) -> Reply {
        var reply = Reply(to: call.request, value: value, under: command)
        if hasReplied { reply.id = nil }
        hasReplied = true
        return reply
    }

    private var finalReply: Reply? {
        if let error = call.error {
            var reply = Reply(to: call.request, error: error)
            if hasReplied { reply.id = nil }
            return reply
        }
        guard call.request.id != nil, !hasReplied else { return nil }
        return Reply(to: call.request, value: call.results.last ?? .null)
    }
}

extension CommandError {
    /// The error as a validation command object's refusal, which is always `invalid`; a command object that could
    /// not decide keeps its own code.
    fileprivate var asRefusal: CommandError {
        switch code {
        case .badRequest, .unknownCommand, .denied, .notFound, .unsupported, .busy, .tooLarge:
            CommandError(.invalid, message, details: details)
        case .invalid, .unavailable, .timeout, .cancelled, .overloaded, .scriptFailed, .internal: self
        }
    }
}
