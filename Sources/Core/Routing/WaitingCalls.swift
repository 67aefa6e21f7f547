public import Concurrency
import Synchronization

/// The waiting calls. The operations they await are child tasks of ``run()``; a call that waits for a client's answer
/// needs no task.
public final class WaitingCalls: Sendable {
    typealias Work = @Sendable () async -> Void

    private struct State {
        var count = 0
        var isFinishing = false
        var drains: [Promise<Void>] = []
        /// What cancels the operations that nobody awaits.
        var unawaited: [ObjectIdentifier: Promise<Void>] = [:]
    }

    /// At most so many operations run that nobody awaits. Further ones are left out, so that a flood of interrupted calls
    /// cannot collect them.
    private static let maximumUnawaited = 1024

    private let work: AsyncStream<Work>
    private let continuation: AsyncStream<Work>.Continuation
    private let deadlines: Deadlines
    private let state = Mutex(State())

    /// - Parameter clock: signals the calls' deadlines.
    public init(clock: any AlarmClock) {
        deadlines = Deadlines(clock)
        (work, continuation) = AsyncStream.makeStream()
    }

    /// Runs the calls until ``finish()``, and then those that are still running. Cancelling it cancels the operations
    /// they await.
    public func run() async {
        await withDiscardingTaskGroup { group in
            for await body in work { group.addTask { await body() } }
        }
    }

    /// Accepts no more calls: from now on a call that would wait gets `cancelled`.
    public func finish() {
        update { $0.isFinishing = true }
    }

    /// Returns when, after ``finish()``, no call waits any more for its reply, or when the task is cancelled.
    public func drained() async {
        let drain = Promise<Void>()
        update { $0.drains.append(drain) }
        _ = try? await drain.value()
    }

    /// How many calls wait, on all connections.
    var count: Int { state.withLock { $0.count } }

    /// Takes a call that will wait. Where the daemon is stopping it is interrupted at once.
    func take(_ call: WaitingCall) {
        let isFinishing = state.withLock { state in
            state.count += 1
            return state.isFinishing
        }
        call.connection.add(call)
        deadlines.add(call)
        if isFinishing { call.interrupt(Self.stopping) }
    }

    /// Runs the operation that a call awaits.
    func perform(_ body: @escaping Work) { continuation.yield(body) }

    /// Runs an operation that nobody awaits. It is cancelled when all calls have ended after ``finish()``.
    func performUnawaited(_ body: @escaping Work) {
        let end = Promise<Void>()
        let mayRun = state.withLock { state in
            guard state.unawaited.count < Self.maximumUnawaited else { return false }
            state.unawaited[ObjectIdentifier(end)] = end
            return true
        }
        guard mayRun else { return }
        perform { [self] in
            await withTaskGroup(of: Void.self) { group in
                group.addTask { await body() }
                group.addTask { _ = try? await end.value() }
                await group.next()
                group.cancelAll()
            }
            state.withLock { _ = $0.unawaited.removeValue(forKey: ObjectIdentifier(end)) }
        }
    }

    /// The call has had its reply.
    func didEnd(_ call: WaitingCall) {
        deadlines.didEnd(call)
        update { $0.count -= 1 }
    }

    static var stopping: CommandError { CommandError(.cancelled, "the daemon is stopping") }

    private func update(_ change: (inout State) -> Void) {
        let (isFinished, drains) = state.withLock { state -> (Bool, [Promise<Void>]) in
            change(&state)
            guard state.isFinishing, state.count == 0 else { return (false, []) }
            defer { state.drains = [] }
            return (true, state.drains + state.unawaited.values)
        }
        if isFinished { continuation.finish() }
        for drain in drains { drain.fulfil(()) }
    }
}
