/// Limits the lines that a failing device would write with each call: after ten of the same within a minute, the rest
/// is only counted. A value; the caller tells the time.
struct RepeatedLines {
    typealias Instant = ContinuousClock.Instant

    private struct Seen {
        var since: Instant
        var count = 1
    }

    private var seen: [String: Seen] = [:]

    private static let most = 10
    private static let period = Duration.seconds(60)
    /// Lines that all differ cost no more memory than this many.
    private static let mostTexts = 100

    /// Counts a line.
    /// - Returns: whether to write it, and how many of the same were left out since the last one.
    mutating func take(_ text: String, at now: Instant) -> (isWritten: Bool, leftOut: Int) {
        guard var line = seen[text], line.since + Self.period > now else {
            let leftOut = max(0, (seen[text]?.count ?? 0) - Self.most)
            if seen.count >= Self.mostTexts { forget(at: now) }
            seen[text] = Seen(since: now)
            return (true, leftOut)
        }
        line.count += 1
        seen[text] = line
        return (line.count <= Self.most, 0)
    }

    private mutating func forget(at now: Instant) {
        seen = seen.filter { $0.value.since + Self.period > now }
        if seen.count >= Self.mostTexts { seen = [:] }
    }
}
