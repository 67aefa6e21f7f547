/// The delay before a lost page is loaded again. It grows as long as that fails.
struct Recovery {
    private static let first = Duration.seconds(3)
    private static let longest = Duration.seconds(60)
    private static let calm = Duration.seconds(60)

    private var next = Self.first
    private var loadedAt: ContinuousClock.Instant?
    private var failures = 0
    /// Whether the page may never load; then the window's first page is loaded instead.
    var isHopeless: Bool { failures > 2 }

    /// The page was loaded.
    mutating func pageIsThere() {
        loadedAt = .now
        failures = 0
    }

    /// The page is lost. Returns how long to wait; after a page that ran for a while, the delay starts small again.
    mutating func failed() -> Duration {
        if let loadedAt, loadedAt.duration(to: .now) > Self.calm { next = Self.first }
        loadedAt = nil
        failures += 1
        defer { next = min(next * 2, Self.longest) }
        return next
    }
}
