import KioskRules

/// Detects a page that does not respond any more, for example in an endless loop: the engine itself does not report
/// that.
final class Watchdog {
    private let page: PageView
    private let time: Duration
    /// Whether the page has a reason not to respond: it waits for a person.
    private let isExcused: (_ since: ContinuousClock.Instant) -> Bool
    private var askedAt: ContinuousClock.Instant?

    /// - Parameter time: how long a page may be unresponsive.
    init(_ page: PageView, _ time: Duration, isExcused: @escaping (ContinuousClock.Instant) -> Bool) {
        self.page = page
        self.time = time
        self.isExcused = isExcused
    }

    func start() {
        LoopSource.every(max(.milliseconds(250), time / 4)) { [weak self] in
            self?.look()
            return self != nil
        }
    }

    private func look() {
        guard let askedAt else { return ask() }
        if isExcused(askedAt) {
            self.askedAt = .now
        } else if askedAt.duration(to: .now) > time {
            self.askedAt = nil
            page.terminate()
        }
    }

    private func ask() {
        askedAt = .now
        page.evaluate("1", in: .named("watchdog")) { [weak self] _ in self?.askedAt = nil }
    }
}
