internal import DequeModule
internal import Synchronization

/// A bounded queue from a thread to the one task that reads it. It keeps the newest elements and counts the dropped
/// ones.
final class Mailbox<Element: Sendable>: Sendable {
    /// How it has ended; nil: without a failure.
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

    /// Whether it is full.
    var isFull: Bool { state.withLock { $0.elements.count >= size } }

    /// Adds an element; if there are too many, the oldest one is dropped.
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

    /// Elements may come from now on.
    func markReady() { wake { $0.isReady = true } }

    /// Nothing more comes. Elements already there are still read.
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

    /// The elements that have not been read.
    func takeAll() -> [Element] {
        state.withLock { state in
            defer { state.elements = [] }
            return Array(state.elements)
        }
    }

    // MARK: For the one task that reads

    /// The next element, and how many before it were dropped; nil at the end, and if the task is cancelled.
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

    /// Sleeps until there is an element, it ends, or the task is cancelled.
    private func sleep() async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let earlier = state.withLock { state -> [CheckedContinuation<Void, Never>] in
                    // A second reader would wait in vain, so it is woken to check again.
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

    /// Waits until elements may come.
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
            // All of them check again.
            wake { _ in }
        }
    }
}
