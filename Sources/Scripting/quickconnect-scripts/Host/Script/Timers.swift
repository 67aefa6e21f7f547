internal import HeapModule

/// The timers of a script: which are due, and when the next one will be.
struct Timers {
    private struct Timer: Comparable {
        var id: Int
        var due: ContinuousClock.Instant
        /// Nil: it fires once.
        var interval: Duration?
        /// Timers that are due at the same time fire in the order they were started.
        var number: Int

        static func < (a: Timer, b: Timer) -> Bool { (a.due, a.number) < (b.due, b.number) }
    }

    private let shortest: Duration
    private var heap = Heap<Timer>()
    /// Timers that have not been stopped; the heap may still contain others.
    private var living: Set<Int> = []
    private var count = 0

    /// - Parameter shortest: no timer is shorter.
    init(shortest: Duration) { self.shortest = shortest }

    mutating func start(_ id: Int, milliseconds: Double, repeats: Bool, at now: ContinuousClock.Instant = .now) {
        // Limited as in browsers to 2^31 ms, 24 days.
        let delay = Duration.milliseconds(milliseconds.isFinite ? min(max(milliseconds, 0), 2_147_483_647) : 0)
        let interval = max(delay, shortest)
        living.insert(id)
        push(id, now + interval, repeats ? interval : nil)
    }

    mutating func stop(_ id: Int) {
        living.remove(id)
        // A program that starts and stops long timers for a year must not keep them all.
        if heap.count > 2 * living.count + 64 { heap = Heap(heap.unordered.filter { living.contains($0.id) }) }
    }

    /// When the next one is due.
    var next: ContinuousClock.Instant? { heap.min?.due }

    /// The next timer that was due by then. A repeating one is due again later, without making up for missed times.
    mutating func takeDue(at now: ContinuousClock.Instant) -> Int? {
        while let first = heap.min, first.due <= now {
            heap.removeMin()
            guard living.contains(first.id) else { continue }
            if let interval = first.interval {
                push(first.id, max(first.due + interval, now + shortest), interval)
            } else {
                living.remove(first.id)
            }
            return first.id
        }
        return nil
    }

    private mutating func push(_ id: Int, _ due: ContinuousClock.Instant, _ interval: Duration?) {
        count += 1
        heap.insert(Timer(id: id, due: due, interval: interval, number: count))
    }
}
