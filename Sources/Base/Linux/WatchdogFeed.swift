/// When a loop feeds systemd's watchdog: twice in its time, as sd_watchdog_enabled(3) recommends. Where systemd does not
/// wait for it, never.
package struct WatchdogFeed: Sendable {
    private let manager: ServiceManager
    /// When ``feed(at:)`` must be called next; nil: never.
    package private(set) var nextMoment: ContinuousClock.Instant?

    /// The first sign of life is sent at once.
    package init(_ manager: ServiceManager) {
        self.manager = manager
        nextMoment = manager.watchdogTime.map { _ in .now }
    }

    /// Gives a sign of life if it is time to. Called in each turn of the loop, so that a loop that is stuck gives none.
    package mutating func feed(at now: ContinuousClock.Instant = .now) {
        guard let time = manager.watchdogTime, let nextMoment, nextMoment <= now else { return }
        manager.feedWatchdog()
        self.nextMoment = now + time / 2
    }
}
