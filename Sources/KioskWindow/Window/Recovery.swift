/// How long a lost page waits until it is loaded again: longer and longer, as long as it does not come.
struct Recovery {
    private static let first = Duration.seconds(3)
    private static let longest = Duration.seconds(60)
    private static let calm = Duration.seconds(60)

    private var next = Self.first
    private var loadedAt: ContinuousClock.Instant?
    private var failures = 0
    /// Whether that page may never come: the window's first one is loaded in its place.
    var isHopeless: Bool { failures > 2 }

    /// The page was loaded.
    mutating func pageIsThere() {
        loadedAt = .now
        failures = 0
    }

    /// The page is lost: how long to wait. One that has run for a while begins anew.
    mutating func failed() -> Duration {
        if let loadedAt, loadedAt.duration(to: .now) > Self.calm { next = Self.first }
        loadedAt = nil
        failures += 1
        defer { next = min(next * 2, Self.longest) }
        return next
    }
}
