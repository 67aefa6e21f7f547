import Concurrency
import JSON
import QuickConnect
import Synchronization

/// A part of a stack that does what the history says, at once.
struct ModelledObject: ValCO, BCO, VCO, ECO {
    let part: Part
    let journal: Journal

    func validate(_ call: borrowing Call) throws(CommandError) -> ValidationOutcome {
        journal.note(part, call)
        return try ValidationOutcome(part.outcome, of: part)
    }

    func handle(_ call: borrowing Call) throws(CommandError) -> BusinessOutcome {
        journal.note(part, call)
        return try BusinessOutcome(part.outcome, of: part)
    }

    func show(_ call: borrowing Call) throws(CommandError) -> ViewOutcome {
        journal.note(part, call)
        return try ViewOutcome(part.outcome, of: part)
    }

    func see(_ error: CommandError, of call: borrowing Call) throws(CommandError) -> ErrorOutcome {
        journal.note(part, call)
        return try ErrorOutcome(part.outcome, of: part)
    }
}

/// The same, of the kinds that wait.
struct WaitingModelledObject: WaitingValCO, WaitingBCO, WaitingVCO, WaitingECO {
    let part: Part
    let journal: Journal

    func validate(_ call: borrowing Call) throws(CommandError) -> Awaited<ValidationOutcome> {
        try wait(call) { outcome throws(CommandError) in try ValidationOutcome(outcome, of: part) }
    }

    func handle(_ call: borrowing Call) throws(CommandError) -> Awaited<BusinessOutcome> {
        try wait(call) { outcome throws(CommandError) in try BusinessOutcome(outcome, of: part) }
    }

    func show(_ call: borrowing Call) throws(CommandError) -> Awaited<ViewOutcome> {
        try wait(call) { outcome throws(CommandError) in try ViewOutcome(outcome, of: part) }
    }

    func see(_ error: CommandError, of call: borrowing Call) throws(CommandError) -> Awaited<ErrorOutcome> {
        try wait(call) { outcome throws(CommandError) in try ErrorOutcome(outcome, of: part) }
    }

    private func wait<Result>(
        _ call: borrowing Call,
        _ make: @escaping @Sendable (Outcome) throws(CommandError) -> Result
    ) throws(CommandError) -> Awaited<Result> {
        journal.note(part, call)
        let key = GateKey(serial: call.serial, part: part.name)
        switch part.way {
        case .plain, .readily, .handler, .shipped: return .now(try make(part.outcome))
        case .quick:
            let outcome = part.outcome
            return .wait { () async throws(CommandError) in try make(outcome) }
        case .promise:
            let promise = promise(key, make)
            return .promise(promise) { [journal] in journal.note(Told.unwanted(key)) }
        case .operation:
            let promise = promise(key, make)
            return .wait { () async throws(CommandError) in try await promise.value() }
        case .deaf:
            let gate = DeafGate()
            journal.keep(key) { gate.open($0) }
            return .wait { () async throws(CommandError) in try make(await gate.outcome()) }
        }
    }

    private func promise<Result>(
        _ key: GateKey,
        _ make: @escaping @Sendable (Outcome) throws(CommandError) -> Result
    ) -> Promise<Result> {
        let promise = Promise<Result>()
        journal.keep(key) { outcome in
            do throws(CommandError) { promise.fulfil(try make(outcome)) } catch { promise.fail(error) }
        }
        return promise
    }
}

/// An outcome that an operation awaits without heed of its cancellation.
private final class DeafGate: Sendable {
    private struct State {
        var outcome: Outcome?
        var waiting: CheckedContinuation<Outcome, Never>?
    }

    private let state = Mutex(State())

    func open(_ outcome: Outcome) {
        let waiting = state.withLock { state in
            if state.outcome == nil { state.outcome = outcome }
            return state.waiting.take()
        }
        waiting?.resume(returning: outcome)
    }

    func outcome() async -> Outcome {
        await withCheckedContinuation { continuation in
            let outcome = state.withLock { state in
                if state.outcome == nil { state.waiting = continuation }
                return state.outcome
            }
            if let outcome { continuation.resume(returning: outcome) }
        }
    }
}

extension Journal {
    fileprivate func note(_ part: Part, _ call: borrowing Call) {
        note(
            Told.ran(
                part.name,
                call.allArguments,
                results: call.results.values.map(\.told),
                handedOn: call.handedOn(String.self),
                call.error?.code.rawValue
            )
        )
    }
}

extension Outcome {
    fileprivate func error(of part: Part) -> CommandError? {
        if case .fail(let code) = self { CommandError(code, "\(part.name) throws") } else { nil }
    }

    fileprivate static func message(_ json: String) -> Message {
        .value((try? JSONParser.parse(json)) ?? .string("no JSON: \(json)"))
    }
}

extension ValidationOutcome {
    fileprivate init(_ outcome: Outcome, of part: Part) throws(CommandError) {
        if let error = outcome.error(of: part) { throw error }
        switch outcome {
        case .handOn: self = .handOn(part.name)
        case .end: self = .end
        case .next, .give, .fail: self = .accept
        }
    }
}

extension BusinessOutcome {
    fileprivate init(_ outcome: Outcome, of part: Part) throws(CommandError) {
        if let error = outcome.error(of: part) { throw error }
        switch outcome {
        case .give(let value, let command, false): self = .result(Outcome.message(value), under: command)
        case .give(let value, let command, true): self = .end(Outcome.message(value), under: command)
        case .end: self = .end
        case .next, .handOn, .fail: self = .proceed
        }
    }
}

extension ViewOutcome {
    fileprivate init(_ outcome: Outcome, of part: Part) throws(CommandError) {
        if let error = outcome.error(of: part) { throw error }
        switch outcome {
        case .give(let value, let command, false): self = .reply(Outcome.message(value), under: command)
        case .give(let value, let command, true): self = .end(Outcome.message(value), under: command)
        case .end: self = .end
        case .next, .handOn, .fail: self = .proceed
        }
    }
}

extension ErrorOutcome {
    fileprivate init(_ outcome: Outcome, of part: Part) throws(CommandError) {
        if let error = outcome.error(of: part) { throw error }
        self = outcome == .end ? .end : .proceed
    }
}
