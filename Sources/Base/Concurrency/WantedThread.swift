internal import Synchronization

/// A thread that sleeps on a waker, and runs only while something is wanted.
package final class WantedThread: Sendable {
    private struct State {
        /// The thread's, as long as there is one.
        var waker: Waker?
        /// Promises that wait for its end.
        var ending: [Deferred<Void, Interruption>] = []
    }

    private let name: String
    private let state = Mutex(State())

    /// - Parameter name: shown by `top -H`.
    package init(_ name: String) { self.name = name }

    package var isRunning: Bool { state.withLock { $0.waker != nil } }

    /// Starts the thread, or wakes it.
    /// - Parameters:
    ///   - isWanted: asked each time when `body` has returned: the thread ends only if it is not. What it reads must have
    ///     been changed before this call, and its lock not be held during any call of this object.
    ///   - body: runs on the thread, and returns when nothing is wanted any more.
    package func start(
        while isWanted: @escaping @Sendable () -> Bool,
        _ body: @escaping @Sendable (Waker) -> Void
    ) throws(Interruption) {
        let (waker, isNew) = try state.withLock { state throws(Interruption) in
            if let waker = state.waker { return (waker, false) }
            let waker = try Waker()
            state.waker = waker
            return (waker, true)
        }
        guard isNew else { return waker.wake() }
        do throws(Interruption) {
            try PThread.run(name) {
                repeat { body(waker) } while !self.hasEnded(isWanted)
            }
        } catch {
            state.withLock { $0.waker = nil }
            throw error
        }
    }

    /// Makes the thread look again at what is wanted.
    package func wake() { state.withLock { $0.waker }?.wake() }

    /// Wakes the thread, and waits for its end.
    package func ended(within time: Duration) async {
        let ended = Deferred<Void, Interruption>()
        let waker = state.withLock { state in
            if state.waker != nil { state.ending.append(ended) }
            return state.waker
        }
        guard let waker else { return }
        waker.wake()
        _ = try? await ended.value(before: .now + time)
    }

    private func hasEnded(_ isWanted: () -> Bool) -> Bool {
        let ending = state.withLock { state -> [Deferred<Void, Interruption>]? in
            if isWanted() { return nil }
            defer { state = State() }
            return state.ending
        }
        for promise in ending ?? [] { promise.fulfil(()) }
        return ending != nil
    }
}
