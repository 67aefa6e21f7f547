internal import HeapModule

/// What is to be done when. A value without a clock: who owns it asks what is due.
package struct LoopDeadlines {
    private struct Timed: Comparable {
        let time: LoopTime
        /// Those of one moment come in the order in which they were set.
        let number: Int
        let deadline: LoopDeadline

        static func < (one: Timed, other: Timed) -> Bool { (one.time, one.number) < (other.time, other.number) }
        static func == (one: Timed, other: Timed) -> Bool { one.number == other.number }
    }

    private var entries = Heap<Timed>()
    private var count = 0
    private let cancelled = Cancelled()

    package init() {}

    /// How many there are, with those that are cancelled and not removed yet.
    var entryCount: Int { entries.count }

    /// Adds something to do, which can be cancelled.
    package mutating func add(at time: LoopTime, _ body: @escaping () -> Void) -> LoopDeadline {
        removeCancelled()
        count += 1
        let deadline = LoopDeadline(body, cancelled)
        entries.insert(Timed(time: time, number: count, deadline: deadline))
        return deadline
    }

    /// When the first is due; nil if there is none.
    package mutating func first() -> LoopTime? {
        while let first = entries.min {
            guard first.deadline.body == nil else { return first.time }
            entries.removeMin()
            cancelled.count -= 1
        }
        return nil
    }

    /// What is due at a time, which is then no longer there; nil if nothing is.
    package mutating func next(at now: LoopTime) -> (() -> Void)? {
        guard let time = first(), time <= now else { return nil }
        return entries.removeMin().deadline.take()
    }

    /// A client that stops and goes on thousands of times must not leave as many entries.
    private mutating func removeCancelled() {
        guard cancelled.count > 64, cancelled.count > entries.count / 2 else { return }
        entries = Heap(entries.unordered.filter { $0.deadline.body != nil })
        cancelled.count = 0
    }

    /// How many are cancelled and not removed yet.
    fileprivate final class Cancelled {
        var count = 0
    }
}

/// Something that is done at a time unless it is cancelled before.
package final class LoopDeadline {
    fileprivate var body: (() -> Void)?
    private let cancelled: LoopDeadlines.Cancelled

    fileprivate init(_ body: @escaping () -> Void, _ cancelled: LoopDeadlines.Cancelled) {
        self.body = body
        self.cancelled = cancelled
    }

    package func cancel() {
        guard body != nil else { return }
        body = nil
        cancelled.count += 1
    }

    fileprivate func take() -> (() -> Void)? {
        defer { body = nil }
        return body
    }
}
