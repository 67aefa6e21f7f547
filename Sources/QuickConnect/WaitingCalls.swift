import Synchronization

/// The calls that wait, each a child task of ``run()``.
public final class WaitingCalls: Sendable {
    private struct State {
        var count = 0
        var isFinishing = false
        var drains: [Promise<Void>] = []
    }

    private let calls: AsyncStream<WaitingCall>
    private let continuation: AsyncStream<WaitingCall>.Continuation
    private let state = Mutex(State())

    public init() {
        (calls, continuation) = AsyncStream.makeStream()
    }

    /// Runs the calls until ``finish()``, then those that are still under way. Cancelling it cancels them.
    public func run() async {
        await withDiscardingTaskGroup { group in
            for await call in calls {
                group.addTask { await call.run() }
            }
        }
    }

    /// Takes no more calls: from now on a call that would wait gets `cancelled`.
    public func finish() {
        continuation.finish()
        update { $0.isFinishing = true }
    }

    /// Returns when, after ``finish()``, no call waits any more for its reply, or when the task is cancelled.
    public func drained() async {
        let drain = Promise<Void>()
        update { $0.drains.append(drain) }
        _ = try? await drain.value()
    }

    func start(_ call: WaitingCall) {
        call.session.add(call)
        update { $0.count += 1 }
        if case .terminated = continuation.yield(call) {
            call.abandon(CommandError(.cancelled, "the daemon is stopping"))
        }
    }

    /// The call has had its reply.
    func didEnd() {
        update { $0.count -= 1 }
    }

    private func update(_ change: (inout State) -> Void) {
        let drains = state.withLock { state -> [Promise<Void>] in
            change(&state)
            guard state.isFinishing, state.count == 0 else { return [] }
            defer { state.drains = [] }
            return state.drains
        }
        for drain in drains { drain.fulfil(()) }
    }
}
