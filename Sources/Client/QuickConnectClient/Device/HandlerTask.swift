package import Concurrency

/// A call on its way to the task that answers it.
struct HandlerTask: Sendable {
    typealias Cancellation = Deferred<Void, Interruption>

    let call: HandlerCall
    /// Fulfilled when nobody waits for the answer any more; nil if the handler is not told of that.
    let cancellation: Cancellation?

    /// Runs the code that answers the call, and cancels it when nobody waits for the answer any more.
    func run(_ answer: @escaping @Sendable (HandlerCall) async -> Void) async {
        guard let cancellation else { return await answer(call) }
        await HandlerCall.$cancellation.withValue(cancellation) {
            await withTaskGroup(of: Void.self) { group in
                group.addTask { await answer(call) }
                group.addTask { _ = try? await cancellation.value() }
                await group.next()
                group.cancelAll()
            }
        }
    }
}

extension HandlerCall {
    /// Of the call that this task answers, if its handler is told: settled when nobody waits for the answer any more, before
    /// any later call comes. The task itself is cancelled a little later.
    @TaskLocal package static var cancellation: Deferred<Void, Interruption>?
}
