/// Limits the console to a number of bytes per second, and counts the dropped lines.
struct ConsoleMeter {
    private let limit: Int
    private var second = ContinuousClock.now
    private var bytes = 0
    /// Dropped lines that have not been reported yet.
    private var untold = 0
    /// Lines that were dropped since the script began.
    private(set) var dropped = 0

    init(bytesPerSecond: Int) { limit = bytesPerSecond }

    /// Whether a line of that many bytes may be written.
    mutating func takes(_ count: Int, at now: ContinuousClock.Instant = .now) -> Bool {
        if now - second >= .seconds(1) { (second, bytes) = (now, 0) }
        guard bytes + count <= limit else {
            untold += 1
            dropped += 1
            return false
        }
        bytes += count
        return true
    }

    /// How many lines were dropped, once their second has passed.
    mutating func takeUntold(at now: ContinuousClock.Instant = .now) -> Int? {
        guard untold > 0, now - second >= .seconds(1) else { return nil }
        defer { untold = 0 }
        return untold
    }

    /// When that can be reported.
    var tellsAt: ContinuousClock.Instant? { untold > 0 ? second + .seconds(1) : nil }
}
