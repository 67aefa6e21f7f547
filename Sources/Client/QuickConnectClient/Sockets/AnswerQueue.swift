internal import Concurrency
internal import Synchronization

/// The answers of a host that wait until the daemon has read those before them. Any thread adds to them.
///
/// The callers take turns, so that nobody waits for the long answers to somebody else.
package final class AnswerQueue: Sendable {
    private struct State {
        var ring = Ring<String, (caller: String, line: AnswerLine)>(newcomersFirst: true)
        /// What waits, and what is being made.
        var bytes = Budget<String>(limit: AnswerQueue.maxBytes)
    }

    /// What waits of all callers.
    private static let maxBytes = 16 << 20
    /// The next answer is taken when less than this waits for the socket: a few short ones go together, and a long one alone.
    private static let unsentBytes = 1 << 10
    /// What the socket may hold, for the same reason (``DaemonConnection/limitUnread(to:)``).
    package static let unreadBytes = 64 << 10

    private let state = Mutex(State())

    package init() {}

    package var isEmpty: Bool { state.withLock { $0.ring.isEmpty } }

    /// Makes the line of an answer, and adds it.
    package func append(_ result: Result<HandlerCall.Answer, HandlerCall.Failure>, to call: HandlerCall) {
        let (caller, line) = (call.callerName, call.answer(result))
        state.withLock {
            $0.ring.append((caller, line), of: caller)
            $0.bytes.add(line.count, to: caller)
        }
    }

    /// So many bytes more, or less, are being made into answers for a caller. They count as if they waited.
    package func expect(_ bytes: Int, for caller: String) { state.withLock { $0.bytes.add(bytes, to: caller) } }

    /// The answer whose turn it is, which waits no more.
    package func next() -> AnswerLine? {
        state.withLock { state in
            guard let (caller, line) = state.ring.next() else { return nil }
            state.bytes.add(-line.count, to: caller)
            return line
        }
    }

    /// Whether a caller has its share, so that nothing long should be made for it.
    package func isFull(for caller: String) -> Bool { state.withLock { $0.bytes.isUsedUp(by: caller) } }

    /// The callers for whom the most bytes wait, at most 8, the first one most of all.
    package var largest: [(caller: String, bytes: Int)] {
        state.withLock { $0.bytes.largest(8) }.map { ($0.peer, $0.used) }
    }

    /// Nobody waits for them any more.
    package func clear() { while next() != nil {} }

    // MARK: To the daemon

    /// Whether an answer waits, and nothing before it.
    package func canSend(over link: DaemonLink) -> Bool { !isEmpty && link.unsentCount < Self.unsentBytes }

    /// Gives the link what may be sent now.
    /// - Returns: whether that was something, so that who had its share may have more.
    package func send(over link: DaemonLink) -> Bool {
        var hasSent = false
        while link.unsentCount < Self.unsentBytes, let line = next() {
            link.conversation.answer(line)
            hasSent = true
        }
        return hasSent
    }
}
