/// Events on their way into the data: collected, and written in batches. A value without input or output.
struct EventRecorder {
    private(set) var pending: [Entry] = []
    /// Their approximate size.
    private var bytes = 0
    private var firstAt: ContinuousClock.Instant?
    /// How many have come.
    private var taken = 0
    /// How many are being written.
    private var saving = 0
    /// How many of those that have come somebody waits for.
    private var awaited = 0
    private var retryAt: ContinuousClock.Instant?
    /// Why nothing can be written; nil if it can.
    private(set) var problem: StoreError?
    /// How many were lost because too many waited.
    private(set) var lost = 0
    private(set) var saved = 0

    static let batch = 1000
    /// How many of the newest may wait.
    static let most = 50_000
    /// And how many bytes they may have.
    static let maxBytes = 32 << 20
    static let pause = Duration.milliseconds(200)
    static let retryPause = Duration.seconds(2)
    /// How long somebody waits for them at most.
    static let patience = Duration.seconds(2)

    /// A change that should be reported.
    enum Change: Equatable {
        case stopped(StoreError)
        case goesOn(lost: Int)
    }

    /// - Parameter size: the bytes of its data as JSON.
    mutating func take(_ entry: Entry, size: Int = 0, at now: ContinuousClock.Instant) {
        if pending.count >= Self.most || bytes > Self.maxBytes { dropOldest() }
        pending.append(entry)
        taken += 1
        bytes += size
        firstAt = firstAt ?? now
    }

    private mutating func dropOldest() {
        let count = min(Self.batch, pending.count)
        // Their single sizes are not stored, so each counts as the average.
        bytes -= bytes / max(1, pending.count) * count
        pending.removeFirst(count)
        lost += count
    }

    /// When there is something to write.
    var nextMoment: ContinuousClock.Instant? {
        guard saving == 0, let firstAt, !pending.isEmpty else { return nil }
        if let retryAt { return retryAt }
        return pending.count >= Self.batch || awaited > settled ? firstAt : firstAt + Self.pause
    }

    /// The entries to write now, in order; nil if there are none.
    /// - Parameter evenFew: at the end, also behind others that are being written.
    mutating func takeBatch(at now: ContinuousClock.Instant, evenFew: Bool = false) -> [Entry]? {
        guard !pending.isEmpty, evenFew || nextMoment.map({ $0 <= now }) ?? false else { return nil }
        retryAt = nil
        let batch = Array(pending.prefix(Self.batch))
        saving += batch.count
        if batch.count == pending.count { bytes = 0 } else { bytes -= bytes / pending.count * batch.count }
        pending.removeFirst(batch.count)
        firstAt = pending.isEmpty ? nil : now
        return batch
    }

    mutating func didSave(_ count: Int) -> Change? {
        saving -= count
        saved += count
        guard problem != nil else { return nil }
        problem = nil
        defer { lost = 0 }
        return .goesOn(lost: lost)
    }

    mutating func didNotSave(_ entries: [Entry], _ error: StoreError, at now: ContinuousClock.Instant) -> Change? {
        saving -= entries.count
        pending.insert(contentsOf: entries, at: 0)
        firstAt = now
        retryAt = now + Self.retryPause
        guard problem == nil else { return nil }
        problem = error
        return .stopped(error)
    }

    // MARK: Whoever reads what was recorded

    /// What somebody waits for who reads the data: what came before, but not for long.
    struct Hold {
        let count: Int
        let end: ContinuousClock.Instant

        /// - Parameter settled: the recorder's.
        func isOver(_ settled: Int, at now: ContinuousClock.Instant) -> Bool { settled >= count || end <= now }
    }

    /// How many of those that have come nobody needs to wait for: they are written, or cannot be.
    var settled: Int { problem == nil ? taken - pending.count - saving : taken }

    /// What somebody who asks now waits for, which is written at once; nil if all is written, or cannot be.
    mutating func hold(at now: ContinuousClock.Instant) -> Hold? {
        guard settled < taken else { return nil }
        awaited = taken
        return Hold(count: taken, end: now + Self.patience)
    }
}
