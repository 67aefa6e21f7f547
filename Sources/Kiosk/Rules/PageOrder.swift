package import Calendar

/// Which of several pages a window shows, and which it loads meanwhile, unseen.
///
/// A value without a window: it is told what the clocks show and what became of a page, and says what to do. How long a
/// page stays goes by the time since the boot, which nobody can set; the times of the day go by the wall clock.
package struct PageOrder: Sendable {
    package struct Page: Sendable, Hashable {
        /// How long it stays, in milliseconds.
        package var duration: Int64
        /// When it may be shown; nil: always.
        package var times: DayTimes?

        package init(duration: Int64, times: DayTimes? = nil) { (self.duration, self.times) = (duration, times) }
    }

    /// What to do; pages are numbered from 0.
    package enum Step: Sendable, Hashable {
        /// Load this page, unseen.
        case load(Int)
        /// Show this page, which is loaded, and end the one that was shown.
        case show(Int)
        /// End what is loaded and not shown: its time is over before its turn comes.
        case forget
        /// Show none: it is no page's time, or only that of pages that fail.
        case showNone
        /// Ask again after so many milliseconds, and when something became of a page.
        case wait(Int64)
    }

    /// How long before its turn a page is loaded; less where pages stay for less than twice as long.
    package static let lead: Int64 = 10_000
    /// How long a page that failed is not tried again; it doubles from the first to the last.
    package static let pauses: ClosedRange<Int64> = 3000...60_000
    /// Somebody may set the clock meanwhile.
    package static let longestWait: Int64 = 30_000

    private struct Failure {
        var pause: Int64
        /// When it may be tried again, since the boot.
        var end: Int64
    }

    private let pages: [Page]
    private let zone: LocalZone
    /// Where the device is, for times that go by the sun; nil: nobody knows.
    package var place: ScheduleRule.Place?
    /// The page that is shown; nil if none is.
    package private(set) var shown: Int?
    private var shownSince: Int64 = 0
    /// The page that was shown last: the next one comes behind it.
    private var last: Int
    /// What was shown before, since when, and which was the last, until another page is shown.
    private var before: (shown: Int?, since: Int64, last: Int) = (nil, 0, 0)
    /// The page that is loaded, unseen, and whether it is there.
    private var hidden: (page: Int, isThere: Bool)?
    /// Whether it was said that none is to be shown.
    private var isEmpty = false
    /// Of the pages that failed when they were tried last.
    private var failures: [Int: Failure] = [:]

    /// - Parameter pages: at least one.
    package init(_ pages: [Page], in zone: LocalZone = LocalZone(), at place: ScheduleRule.Place? = nil) {
        (self.pages, self.zone, self.place) = (pages, zone, place)
        last = pages.count - 1
    }

    /// Whether a page is never shown because nobody knows where the device is.
    package var lacksPlace: Bool { place == nil && pages.contains { $0.times?.needsPosition ?? false } }

    // MARK: What became of a page

    /// The page that is loaded, unseen, is there.
    package mutating func isLoaded() { hidden?.isThere = true }

    /// The page that is loaded, unseen, has failed.
    /// - Returns: its number, if that is news: it did not fail before; nil if it is none.
    package mutating func hiddenFails(at now: ClockReading) -> Int? {
        guard let page = hidden?.page else { return nil }
        hidden = nil
        return note(page, now) ? page : nil
    }

    /// The page that is shown cannot be shown any more.
    package mutating func shownFails(at now: ClockReading) {
        isEmpty = false
        guard let page = shown else { return }
        shown = nil
        _ = note(page, now)
    }

    /// The page that was to be shown is not: the one before it still is.
    package mutating func isNotShown() { (shown, shownSince, last) = before }

    /// The page that was to be shown has failed before anybody saw it: the one before it still is shown.
    /// - Returns: as ``hiddenFails(at:)``.
    package mutating func showFails(at now: ClockReading) -> Int? {
        guard let page = shown else { return nil }
        isNotShown()
        return note(page, now) ? page : nil
    }

    private mutating func note(_ page: Int, _ now: ClockReading) -> Bool {
        isEmpty = false
        let before = failures[page]
        let pause = before.map { min($0.pause * 2, Self.pauses.upperBound) } ?? Self.pauses.lowerBound
        failures[page] = Failure(pause: pause, end: now.boot + pause)
        return before == nil
    }

    /// Pages that failed may be tried again at once.
    package mutating func tryAgain() {
        for page in failures.keys { failures[page]?.end = .min }
    }

    /// The turn of the page that is shown begins anew; what is loaded, unseen, is ended.
    package mutating func beginTurn(at now: ClockReading) { (shownSince, hidden) = (now.boot, nil) }

    // MARK: What to do

    /// What to do next, which counts as done then. To be asked until there is nothing but to wait.
    package mutating func step(at now: ClockReading) -> Step {
        let left = timeLeft(now)
        // A page is loaded for the moment of its turn.
        let turn = now.wall + left
        if let page = hidden?.page, end(of: page, at: turn) == nil {
            hidden = nil
            return .forget
        }
        if left == 0, let hidden, hidden.isThere { return show(hidden.page, now) }
        if hidden == nil, left <= leadTime {
            if let next = next(at: turn, now) {
                hidden = (next, false)
                return .load(next)
            }
            if !isEmpty, !mayStay(now) {
                (shown, isEmpty) = (nil, true)
                return .showNone
            }
        }
        return .wait(wait(left, now))
    }

    private mutating func show(_ page: Int, _ now: ClockReading) -> Step {
        before = (shown, shownSince, last)
        (shown, last, hidden, isEmpty) = (page, page, nil, false)
        shownSince = now.boot
        failures[page] = nil
        return .show(page)
    }

    /// Whether things can stay as they are.
    private func mayStay(_ now: ClockReading) -> Bool {
        if let shown { return end(of: shown, at: now.wall) != nil }
        return pages.indices.contains { end(of: $0, at: now.wall) != nil }
    }

    /// The next page that may be shown at a time, in milliseconds since 1970, and may be tried now.
    private func next(at turn: Int64, _ now: ClockReading) -> Int? {
        (1...pages.count).lazy.map { [last, pages] in (last + $0) % pages.count }.first {
            $0 != shown && failures[$0]?.end ?? .min <= now.boot && end(of: $0, at: turn) != nil
        }
    }

    private var leadTime: Int64 { shown.map { min(Self.lead, pages[$0].duration / 2) } ?? 0 }

    /// How long the page that is shown stays, in milliseconds. After its turn it stays as long as no other one can be shown.
    private func timeLeft(_ now: ClockReading) -> Int64 {
        guard let shown, let end = end(of: shown, at: now.wall) else { return 0 }
        let untilEnd = end == .max ? Self.forever : end - now.wall
        let untilTurn = shownSince + pages[shown].duration - now.boot
        if untilTurn > 0 { return min(untilTurn, untilEnd) }
        let canFollow = hidden.map { self.end(of: $0.page, at: now.wall) != nil } ?? (next(at: now.wall, now) != nil)
        return canFollow ? 0 : untilEnd
    }

    /// Longer than any turn, and short enough to be added to a time.
    private static let forever: Int64 = 1 << 50

    /// Until when a page may be shown, in milliseconds since 1970; nil if it may not. A clock that was never set tells
    /// nothing of the times of the day.
    private func end(of page: Int, at wall: Int64) -> Int64? {
        guard let times = pages[page].times else { return .max }
        guard wall >= ClockTrust.earliest else { return nil }
        return times.end(around: wall / 1000, in: zone, at: place).map { $0 * 1000 }
    }

    private func wait(_ left: Int64, _ now: ClockReading) -> Int64 {
        var waits: [Int64] = []
        if let hidden {
            if hidden.isThere { waits.append(left) }
        } else {
            waits.append(left > leadTime ? left - leadTime : left)
            waits += failures.values.map { $0.end == .min ? 0 : $0.end - now.boot }
            let begins = pages.compactMap { $0.times?.nextBegin(after: now.wall / 1000, in: zone, at: place) }
            waits += begins.map { $0 * 1000 - now.wall }
        }
        return min(waits.filter { $0 > 0 }.min() ?? Self.longestWait, Self.longestWait)
    }
}
