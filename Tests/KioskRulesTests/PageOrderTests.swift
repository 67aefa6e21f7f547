import Calendar
import Glibc
import KioskRules
import Testing

/// One test at a time sets `TZ`, which a process has once.
@Suite("The order of pages", .serialized)
struct PageOrderTests {
    @Test func `pages come in turn, and each is loaded before its turn`() {
        var screen = Screen([page(30), page(20)], at: "2026-06-01 12:00")
        screen.run(for: 100)
        #expect(
            screen.events == [
                "0 load 0", "1 show 0", "21 load 1", "31 show 1", "41 load 0", "51 show 0", "71 load 1", "81 show 1",
                "91 load 0",
            ]
        )
    }

    @Test func `a page that stays for a short time is loaded in the second half of the one before`() {
        var screen = Screen([page(6), page(6)], at: "2026-06-01 12:00")
        screen.run(for: 10)
        #expect(screen.events == ["0 load 0", "1 show 0", "4 load 1", "7 show 1", "10 load 0"])
    }

    @Test func `a single page is loaded once, and stays`() {
        var screen = Screen([page(30)], at: "2026-06-01 12:00")
        screen.run(for: 100_000)
        #expect(screen.events == ["0 load 0", "1 show 0"])
    }

    @Test func `never more than one page is loaded beside the one that is shown`() {
        var screen = Screen([page(5), page(7), page(11)], at: "2026-06-01 12:00")
        screen.broken = [1]
        screen.run(for: 3600)
        #expect(screen.most == 1)
    }

    @Test func `a page that was to be shown and was not leaves the one before where it was`() {
        var order = PageOrder([page(30), page(30)])
        var now = ClockReading(wall: 1_780_000_000_000, boot: 0)
        func steps() -> [PageOrder.Step] {
            var steps: [PageOrder.Step] = []
            while true {
                let step = order.step(at: now)
                if case .wait = step { return steps }
                steps.append(step)
            }
        }
        #expect(steps() == [.load(0)])
        order.isLoaded()
        #expect(steps() == [.show(0)])
        (now.wall, now.boot) = (now.wall + 25_000, 25_000)
        #expect(steps() == [.load(1)])
        order.isLoaded()
        (now.wall, now.boot) = (now.wall + 5000, 30_000)
        #expect(steps() == [.show(1)])
        order.isNotShown()
        #expect(order.shown == 0 && steps() == [.load(1)])
        order.isLoaded()
        #expect(steps() == [.show(1)] && order.showFails(at: now) == 1)
        #expect(order.shown == 0 && steps() == [])
        (now.wall, now.boot) = (now.wall + 3000, 33_000)
        #expect(steps() == [.load(1)])
    }

    @Test func `a whole day by the clock, with times that meet and one over midnight`() {
        let pages = [
            page(60, "08:00", "12:00"), page(60, "12:00", "18:00"), page(60, "22:00", "06:00"),
        ]
        var screen = Screen(pages, at: "2026-06-01 00:00")
        screen.run(for: 86_400)
        // From 06:00 to 08:00 and from 18:00 to 22:00 no page has its time.
        #expect(
            screen.clock == [
                "00:00:00 load 2", "00:00:01 show 2", "06:00:00 none", "08:00:00 load 0", "08:00:01 show 0",
                "11:59:50 load 1", "12:00:00 show 1", "18:00:00 none", "22:00:00 load 2", "22:00:01 show 2",
            ]
        )
    }

    @Test func `days are those on which a time begins`() {
        // A Friday.
        var screen = Screen([page(60, "22:00", "02:00", days: [.fri])], at: "2026-06-05 12:00")
        screen.run(for: 3 * 86_400)
        #expect(screen.clock == ["12:00:00 none", "22:00:00 load 0", "22:00:01 show 0", "02:00:00 none"])
        var monday = Screen([page(60, days: [.mon])], at: "2026-06-05 12:00")
        monday.run(for: 5 * 86_400)
        #expect(monday.clock == ["12:00:00 none", "00:00:00 load 0", "00:00:01 show 0", "00:00:00 none"])
    }

    @Test func `the days on which the clock is changed have their times, and nobody waits an hour`() {
        inZone("Europe/Berlin") {
            // 02:30 never comes on this day: it is the first moment after it, 03:00.
            var spring = Screen([page(60, "02:30", "04:00")], at: "2026-03-28 23:00")
            spring.run(for: 12 * 3600)
            #expect(spring.clock == ["00:00:00 none", "03:00:00 load 0", "03:00:01 show 0", "04:00:00 none"])
            // 02:30 comes twice: the first one counts, so it is an hour more until 04:00.
            var autumn = Screen([page(60, "02:30", "04:00")], at: "2026-10-24 22:00")
            autumn.run(for: 12 * 3600)
            #expect(autumn.clock == ["00:00:00 none", "02:30:00 load 0", "02:30:01 show 0", "04:00:00 none"])
            #expect(autumn.seconds == [0, 9000, 9001, 18_000])
            // A day of 25 hours, the whole of it.
            var day = Screen([page(60, days: [.sun])], at: "2026-10-24 21:00")
            day.run(for: 27 * 3600)
            #expect(day.seconds == [0, 3600, 3601, 26 * 3600])
        }
    }

    @Test func `the sun needs a position`() {
        let pages = [page(60, "sunrise", "sunset")]
        var nowhere = Screen(pages, at: "2026-06-21 00:00")
        #expect(nowhere.order.lacksPlace)
        nowhere.run(for: 86_400)
        #expect(nowhere.events == ["0 none"])
        var dublin = Screen(pages, at: "2026-06-21 00:00")
        dublin.order.place = (53.35, -6.26)
        #expect(!dublin.order.lacksPlace)
        dublin.run(for: 86_400)
        #expect(
            dublin.clock.map { $0.dropFirst(2).prefix(1) + $0.dropFirst(8) } == [
                ": none", ": load 0", ": show 0", ": none",
            ]
        )
        // By almanacs from 03:57 to 20:57, in UTC.
        #expect(zip(dublin.seconds.dropFirst(), [14_220, 14_221, 75_420]).allSatisfy { abs($0 - $1) < 180 })
    }

    @Test func `a page that fails is passed over, told once, and tried in the next round`() {
        var screen = Screen([page(30), page(30), page(30)], at: "2026-06-01 12:00")
        screen.broken = [1]
        screen.run(for: 200)
        #expect(screen.shownPages == [0, 2, 0, 2, 0, 2, 0])
        #expect(screen.events.filter { $0.hasSuffix("load 1") }.count == 3)
        #expect(screen.told == [1])
        screen.broken = []
        screen.run(for: 100)
        #expect(screen.shownPages.suffix(3) == [1, 2, 0])
        screen.broken = [1]
        screen.run(for: 100)
        #expect(screen.told == [1, 1])
    }

    @Test func `where all others fail the page stays, and they are tried less and less often`() {
        var screen = Screen([page(30), page(30)], at: "2026-06-01 12:00")
        screen.broken = [1]
        screen.run(for: 3600)
        #expect(screen.shownPages == [0])
        let tries = screen.events.filter { $0.hasSuffix("load 1") }.count
        #expect((50...70).contains(tries), "\(tries)")
        screen.broken = []
        screen.run(for: 120)
        #expect(screen.shownPages.prefix(2) == [0, 1])
    }

    @Test func `where all fail they are tried in turn, until one is there`() {
        var screen = Screen([page(30), page(30)], at: "2026-06-01 12:00")
        screen.broken = [0, 1]
        screen.run(for: 20)
        #expect(screen.events.prefix(4) == ["0 load 0", "1 load 1", "4 load 0", "5 load 1"])
        #expect(screen.told == [0, 1] && screen.order.shown == nil)
        screen.broken = [1]
        screen.run(for: 70)
        #expect(screen.order.shown == 0)
        // Somebody presses the button: at once.
        var other = Screen([page(30), page(30)], at: "2026-06-01 12:00")
        other.broken = [0, 1]
        other.run(for: 600)
        other.broken = []
        other.order.tryAgain()
        other.run(for: 2)
        #expect(other.order.shown != nil)
    }

    @Test func `a page that ends while it is shown makes room for the next one at once`() {
        var screen = Screen([page(30), page(30)], at: "2026-06-01 12:00")
        screen.run(for: 5)
        screen.order.shownFails(at: screen.now)
        screen.run(for: 2)
        #expect(screen.shownPages == [0, 1])
        screen.run(for: 30)
        #expect(screen.shownPages == [0, 1, 0])
    }

    @Test func `a page whose time is over does not stay because the others fail`() {
        var screen = Screen([page(60, "08:00", "12:00"), page(60, "12:00", "18:00")], at: "2026-06-01 11:00")
        screen.broken = [1]
        screen.run(for: 2 * 3600)
        #expect(
            screen.clock.contains { $0.hasPrefix("12:00:0") && $0.hasSuffix(" none") },
            "\(screen.clock.prefix(12))"
        )
        #expect(screen.order.shown == nil)
    }

    @Test func `a clock that is set holds up no page, and its times are those of the new time`() {
        var screen = Screen([page(30), page(30, "12:00", "13:00")], at: "2026-06-01 12:10")
        screen.run(for: 5)
        screen.set(back: 86_400 * 3)
        screen.run(for: 60)
        #expect(screen.shownPages == [0, 1, 0])
        // An hour back: it is 11:11, and only the first page has its time.
        screen.set(back: 3600)
        screen.run(for: 300)
        #expect(screen.shownPages == [0, 1, 0])
        screen.set(back: -3600)
        screen.run(for: 100)
        #expect(screen.shownPages.count > 4)
    }

    @Test func `what is loaded for a time that the clock has left is given up`() {
        var screen = Screen([page(30), page(30, "12:00", "13:00")], at: "2026-06-01 12:10")
        screen.run(for: 25)
        #expect(screen.events.last == "21 load 1")
        screen.set(back: 3600)
        screen.run(for: 30)
        #expect(screen.events.last == "25 forget" && screen.order.shown == 0)
    }

    @Test func `a clock that was never set shows the pages without times`() {
        var screen = Screen([page(30, "00:00", "23:59"), page(30)], at: "1970-01-01 00:10")
        screen.run(for: 300)
        #expect(screen.shownPages == [1])
        screen.set(back: -1_780_000_000)
        screen.run(for: 60)
        #expect(screen.shownPages.prefix(2) == [1, 0])
    }

    @Test func `a turn that begins anew is a whole one, and what was loaded is not needed`() {
        var screen = Screen([page(30), page(30)], at: "2026-06-01 12:00")
        screen.run(for: 25)
        screen.order.beginTurn(at: screen.now)
        screen.isLoading = nil
        screen.run(for: 40)
        #expect(screen.events.suffix(2) == ["45 load 1", "55 show 1"])
    }
}

private func page(
    _ seconds: Int64,
    _ from: String? = nil,
    _ until: String? = nil,
    days: Set<Weekday>? = nil
) -> PageOrder.Page {
    let moments = [from, until].map { $0.flatMap { try? ScheduleRule.Moment(at: $0) } }
    let isAlways = from == nil && until == nil && days == nil
    return PageOrder.Page(
        duration: seconds * 1000,
        times: isAlways ? nil : DayTimes(from: moments[0], until: moments[1], days: days)
    )
}

private func inZone(_ name: String, _ body: () -> Void) {
    let before = getenv("TZ").map { String(cString: $0) }
    setenv("TZ", name, 1)
    defer {
        if let before { setenv("TZ", before, 1) } else { unsetenv("TZ") }
        tzset()
    }
    body()
}

/// A window without one: it does what the order says, with a clock of its own. A page is there, or has failed, after a
/// second.
private struct Screen {
    var order: PageOrder
    var now: ClockReading
    private let begun: Int64
    /// The pages that cannot be loaded.
    var broken: Set<Int> = []
    /// The page that is being loaded, and when that ends.
    var isLoading: (page: Int, end: Int64)?
    /// What was done: after how many seconds, what, and the time on the wall.
    private var done: [(at: Int64, what: String, wall: String)] = []
    private var hidden = 0
    /// How many pages were loaded beside the one that is shown, at most.
    private(set) var most = 0
    /// The pages whose failure was news.
    private(set) var told: [Int] = []

    /// - Parameter text: the time of its clock, in UTC.
    init(_ pages: [PageOrder.Page], at text: String) {
        let parts = text.split(separator: " ").map(String.init)
        let clock = (try? ScheduleRule.Moment(at: parts[1])) ?? .at(0)
        var second = 0
        if case .at(let time) = clock { second = time }
        let wall = (Int64(CivilDate(parts[0])?.dayNumber ?? 0) * 86_400 + Int64(second)) * 1000
        order = PageOrder(pages)
        now = ClockReading(wall: wall, boot: 500_000)
        begun = now.boot
    }

    var events: [String] { done.map { "\($0.at) \($0.what)" } }
    var seconds: [Int64] { done.map(\.at) }
    /// The same with the time on the wall.
    var clock: [String] { done.map { "\($0.wall) \($0.what)" } }
    var shownPages: [Int] { done.compactMap { $0.what.hasPrefix("show ") ? Int($0.what.dropFirst(5)) : nil } }

    mutating func set(back seconds: Int64) { now.wall -= seconds * 1000 }

    mutating func run(for seconds: Int64) {
        let end = now.boot + seconds * 1000
        var count = 0
        while now.boot <= end {
            count += 1
            guard count < 1_000_000 else { return done.append((0, "it never waits", "")) }
            if let loading = isLoading, loading.end <= now.boot {
                isLoading = nil
                if broken.contains(loading.page) {
                    hidden -= 1
                    if let page = order.hiddenFails(at: now) { told.append(page) }
                } else {
                    order.isLoaded()
                }
            }
            guard let wait = doStep() else { continue }
            let next = min(now.boot + wait, isLoading?.end ?? .max, end + 1)
            now.wall += next - now.boot
            now.boot = next
        }
        now.wall -= 1
        now.boot -= 1
    }

    /// - Returns: how long to wait; nil if there is more to do.
    private mutating func doStep() -> Int64? {
        switch order.step(at: now) {
        case .load(let page):
            hidden += 1
            most = max(most, hidden)
            isLoading = (page, now.boot + 1000)
            note("load \(page)")
        case .show(let page):
            hidden -= 1
            note("show \(page)")
        case .forget:
            hidden -= 1
            isLoading = nil
            note("forget")
        case .showNone: note("none")
        case .wait(let time): return time
        }
        return nil
    }

    private mutating func note(_ what: String) {
        let shown = LocalZone().moment(at: now.wall / 1000).secondOfDay
        let parts = [shown / 3600, shown / 60 % 60, shown % 60].map { $0 < 10 ? "0\($0)" : "\($0)" }
        done.append(((now.boot - begun) / 1000, what, parts.joined(separator: ":")))
    }
}
