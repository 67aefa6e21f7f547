import Synchronization

/// A value that arrives once, for one task that awaits it.
///
/// Any thread may settle it; the first settlement counts and later ones are ignored. When the awaiting task is
/// cancelled the promise settles with `cancelled`, so nobody waits for ever.
public final class Promise<Value: Sendable>: Sendable {
    private enum State {
        case open
        case awaited(@Sendable (Result<Value, CommandError>) -> Void)
        case settled(Result<Value, CommandError>)
    }

    private let state = Mutex(State.open)

    public init() {}

    /// Settles the promise, and says whether this was the settlement that counts.
    @discardableResult
    public func settle(_ result: Result<Value, CommandError>) -> Bool {
        let (isFirst, waiter) = state.withLock { state -> (Bool, (@Sendable (Result<Value, CommandError>) -> Void)?) in
            switch state {
            case .settled: return (false, nil)
            case .open:
                state = .settled(result)
                return (true, nil)
            case .awaited(let waiter):
                state = .settled(result)
                return (true, waiter)
            }
        }
        waiter?(result)
        return isFirst
    }

    @discardableResult
    public func fulfil(_ value: Value) -> Bool { settle(.success(value)) }

    @discardableResult
    public func fail(_ error: CommandError) -> Bool { settle(.failure(error)) }

    /// Whether it is settled. A device looks here to leave out work that nobody awaits any more.
    public var isSettled: Bool {
        state.withLock { if case .settled = $0 { true } else { false } }
    }

    /// Runs `waiter` once it is settled: at once where it is already, else on the thread that settles it. Takes the
    /// place of a task that awaits ``value()``: there is one waiter, once.
    public func whenSettled(_ waiter: @escaping @Sendable (Result<Value, CommandError>) -> Void) {
        let ready = state.withLock { state -> Result<Value, CommandError>? in
            switch state {
            case .open:
                state = .awaited(waiter)
                return nil
            case .awaited: return .failure(CommandError(.internal, "a promise was awaited twice"))
            case .settled(let result): return result
            }
        }
        if let ready { waiter(ready) }
    }

    /// The value, as soon as it is there. Only one task may await it, once.
    public func value() async throws(CommandError) -> Value {
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in whenSettled { continuation.resume(returning: $0) } }
        } onCancel: {
            fail(CommandError(.cancelled, "the call was cancelled"))
        }
        return try result.get()
    }
}
