internal import DequeModule
internal import Synchronization

/// What a thread puts there for one task that reads it: so many of the newest, and how many were dropped.
final class Mailbox<Element: Sendable>: Sendable {
    /// How it has ended: nil: without a failure.
    private typealias End = CallFailure?

    private struct State {
        var elements: Deque<Element> = []
        var dropped = 0
        var isReady = false
        var end: End?
        var reader: CheckedContinuation<Void, Never>?
        var awaiters: [CheckedContinuation<Void, Never>] = []

        mutating func takeReader() -> CheckedContinuation<Void, Never>? {
            defer { reader = nil }
            return reader
        }
    }

    private let size: Int
    private let state = Mutex(State())

    init(size: Int) { self.size = size }

    /// How many are in it.
    var isFull: Bool { state.withLock { $0.elements.count >= size } }

    /// Puts one more there; of too many the oldest goes.
    func put(_ element: Element) {
        let reader = state.withLock { state -> CheckedContinuation<Void, Never>? in
            guard state.end == nil else { return nil }
            if state.elements.count >= size {
                state.elements.removeFirst()
                state.dropped += 1
            }
            state.elements.append(element)
            return state.takeReader()
        }
        reader?.resume()
    }

    /// Something may come from now on.
    func markReady() { wake { $0.isReady = true } }

    /// Nothing more comes. What is there is read before.
    func finish(_ failure: CallFailure? = nil) {
        wake { state in
            if state.end == nil { state.end = .some(failure) }
        }
    }

    private func wake(_ change: (inout State) -> Void) {
        let waiting = state.withLock { state in
            change(&state)
            defer { state.awaiters = [] }
            return state.awaiters + [state.end == nil ? nil : state.takeReader()].compactMap { $0 }
        }
        for continuation in waiting { continuation.resume() }
    }

    /// What has not been read.
    func takeAll() -> [Element] {
        state.withLock { state in
            defer { state.elements = [] }
            return Array(state.elements)
        }
    }

    // MARK: For the one task that reads

    /// The next one, and how many before it were dropped; nil at the end, and where the task is cancelled.
    func next() async throws(CallFailure) -> (element: Element, dropped: Int)? {
        while !Task.isCancelled {
            if let taken = take() { return taken }
            if let end = state.withLock({ $0.end }) {
                if let failure = end { throw failure }
                return nil
            }
            await sleep()
        }
        return nil
    }

    private func take() -> (element: Element, dropped: Int)? {
        state.withLock { state in
            guard let element = state.elements.popFirst() else { return nil }
            defer { state.dropped = 0 }
            return (element, state.dropped)
        }
    }

    /// Until something is there, it ends, or the task is cancelled.
    private func sleep() async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let earlier = state.withLock { state -> [CheckedContinuation<Void, Never>] in
                    // A second reader would wait in vain; it looks again.
                    let earlier = state.takeReader()
                    guard state.elements.isEmpty, state.end == nil, !Task.isCancelled else {
                        return [earlier, continuation].compactMap { $0 }
                    }
                    state.reader = continuation
                    return [earlier].compactMap { $0 }
                }
                for continuation in earlier { continuation.resume() }
            }
        } onCancel: {
            state.withLock { $0.takeReader() }?.resume()
        }
    }

    /// Waits until something may come.
    func ready() async throws(CallFailure) {
        while !Task.isCancelled {
            let (isReady, end) = state.withLock { ($0.isReady, $0.end) }
            if let failure = end.flatMap({ $0 }) { throw failure }
            if isReady || end != nil { return }
            await sleepUntilReady()
        }
        throw .cancelled
    }

    private func sleepUntilReady() async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let looksAgain = state.withLock { state in
                    if state.isReady || state.end != nil || Task.isCancelled { return true }
                    state.awaiters.append(continuation)
                    return false
                }
                if looksAgain { continuation.resume() }
            }
        } onCancel: {
            // All of them look again.
            wake { _ in }
        }
    }
}
