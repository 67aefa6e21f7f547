import Synchronization

/// A value that arrives once, for one task that awaits it.
///
/// Any thread may settle it; the first settlement counts and later ones are ignored. When the awaiting task is
/// cancelled, the promise settles with an ``Interruption``, so nobody waits forever.
public final class Deferred<Value: Sendable, Failure: InterruptionConvertible>: Sendable {
    private enum State {
        case open
        case awaited(@Sendable (Result<Value, Failure>) -> Void)
        case settled(Result<Value, Failure>)
    }

    private let state = Mutex(State.open)

    public init() {}

    /// Settles the promise, and returns whether this settlement counts.
    @discardableResult
    public func settle(_ result: Result<Value, Failure>) -> Bool {
        let (isFirst, waiter) = state.withLock { state -> (Bool, (@Sendable (Result<Value, Failure>) -> Void)?) in
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

    /// Settles the promise with what `work` returns or throws.
    package func settle(_ work: () throws(Failure) -> Value) { settle(Result(catching: work)) }

    @discardableResult
    public func fulfil(_ value: Value) -> Bool { settle(.success(value)) }

    @discardableResult
    public func fail(_ error: Failure) -> Bool { settle(.failure(error)) }

    /// Whether it is settled. A device checks this to skip work that nobody awaits any more.
    public var isSettled: Bool {
        state.withLock { if case .settled = $0 { true } else { false } }
    }

    /// Runs `waiter` once it is settled: at once if it already is, otherwise on the thread that settles it. This
    /// replaces a task that awaits ``value()``: there can be only one waiter.
    public func whenSettled(_ waiter: @escaping @Sendable (Result<Value, Failure>) -> Void) {
        let ready = state.withLock { state -> Result<Value, Failure>? in
            switch state {
            case .open:
                state = .awaited(waiter)
                return nil
            case .awaited: return .failure(Failure(Interruption(.misused, "a promise was awaited twice")))
            case .settled(let result): return result
            }
        }
        if let ready { waiter(ready) }
    }

    /// The value, as soon as it is there. Only one task may await it, once.
    public func value() async throws(Failure) -> Value {
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in whenSettled { continuation.resume(returning: $0) } }
        } onCancel: {
            fail(Failure(Interruption(.cancelled, "the call was cancelled")))
        }
        return try result.get()
    }
}
