import Calendar
import JSON
import QuickConnect

/// Which schedule runs when: pure arithmetic on a clock that may be set back and forth, and may be wrong at the start.
/// Moments are seconds since 1970.
struct ScheduleBook {
    typealias Place = ScheduleRule.Place

    /// A run that has come.
    struct Due: Equatable {
        var name: String
        var planned: Int64
        /// Whether it is made up for, because the device was off or asleep at its time.
        var isMissed: Bool
        var declaration: ScheduleDeclaration
    }

    /// What callers see of a schedule.
    struct Report: Equatable {
        var next: Int64?
        var last: Int64?
        /// `ok`, or the code of the error of its call; nil before the first run, and while it runs.
        var result: String?
    }

    private struct Plan {
        var declaration: ScheduleDeclaration
        /// All runs up to this one are done or left out.
        var done: Int64
        var next: Int64?
        var last: Int64?
        var planned: Int64?
        var result: String?
    }

    /// A run that comes late by no more than this is on time: a clock jumps a little, a machine is busy, a daemon restarts.
    static let grace: Int64 = 60
    /// How many times of a clock that was set back are remembered.
    private static let maxSpans = 8

    private var plans: [ByteName: Plan] = [:]
    private let records: ScheduleRecords
    /// Before this the clock has not been set: the build's date, or the newest time that is kept.
    private let floor: Int64
    private let built: Int64
    /// Times that the clock has shown before it was set back.
    private var spans: [ClosedRange<Int64>]
    private var begin: Int64
    private var end: Int64
    private let zone = LocalZone()
    /// Whether the first plans have been adopted: later ones are new.
    private var hasBegun = false

    /// Whether the clock can be right. Otherwise schedules wait.
    private(set) var isClockSet: Bool
    /// Whether it has been, in this life of the daemon.
    private var wasClockSet: Bool
    /// Where the settings say that the device is, and where it was last.
    private let givenPlace: Place?
    private var foundPlace: Place?

    /// - Parameters:
    ///   - built: when the program was built.
    ///   - place: where the settings say that the device is; nil: where it was last.
    init(_ records: ScheduleRecords, built: Int64, now: Int64, place: Place? = nil) {
        self.records = records
        self.built = built
        floor = max(built, records.newest)
        spans = records.spans
        isClockSet = now >= floor
        wasClockSet = isClockSet
        (begin, end) = (now, now)
        (givenPlace, foundPlace) = (place, records.place)
    }

    /// Where the sun rises.
    var place: Place? { givenPlace ?? foundPlace }
    /// The newest time that was kept, if the clock is earlier for no reason but that.
    func newestKept(at now: Int64) -> Int64? { built <= now && now < floor ? floor : nil }

    var isEmpty: Bool { plans.isEmpty }
    /// Whether there is anything to keep, or to keep no longer.
    var isWorthKeeping: Bool { !plans.isEmpty || !records.runs.isEmpty }
    var count: Int { plans.count }
    var names: [String] { plans.keys.map(\.text).sorted() }
    /// Whether a schedule cannot tell its times, because nobody knows where the device is.
    var lacksPlace: Bool { place == nil && goesBySun }
    /// Whether the device is to be asked where it is.
    var asksForPlace: Bool { givenPlace == nil && goesBySun }
    private var goesBySun: Bool { plans.values.contains { $0.declaration.rule.needsPosition } }

    /// When there is something to do; nil if nothing is planned.
    var wake: Int64? { isClockSet ? plans.values.compactMap(\.next).min() : isEmpty ? nil : floor }

    func report(of name: String) -> Report? {
        plans[ByteName(name)].map { Report(next: isClockSet ? $0.next : nil, last: $0.last, result: $0.result) }
    }

    /// Takes the schedules of a table. One that has not changed keeps its times: a reload neither runs nor forgets a run.
    /// - Returns: whether what is kept has changed.
    mutating func adopt(_ declared: [(name: String, declaration: ScheduleDeclaration)], now: Int64) -> Bool {
        let old = plans
        plans = [:]
        for (name, declaration) in declared {
            let key = ByteName(name)
            if var plan = old[key] {
                if plan.declaration.rule != declaration.rule { (plan.done, plan.next) = (now, nil) }
                plan.declaration = declaration
                plans[key] = plan
            } else {
                plans[key] = plan(name, declaration, now)
            }
            // What has come since then is found at the next look.
            if let plan = plans[key], plan.next == nil { self.plan(nextOf: key, after: plan.done) }
        }
        hasBegun = true
        let words = { (plans: [ByteName: Plan]) in plans.mapValues(\.declaration.words) }
        return words(old) != words(plans)
    }

    private func plan(_ name: String, _ declaration: ScheduleDeclaration, _ now: Int64) -> Plan {
        var plan = Plan(declaration: declaration, done: now)
        guard let record = records.runs[name] else { return plan }
        (plan.last, plan.planned) = (record.last, record.planned)
        // What it began before the end has not been heard of since.
        plan.result = record.result ?? (record.last == nil ? nil : CommandError.Code.cancelled.rawValue)
        if !hasBegun { plan.done = done(record, declaration, now) }
        return plan
    }

    /// Up to when the runs are done or left out of a schedule that was there before the start.
    private func done(_ record: ScheduleRecords.Run, _ declaration: ScheduleDeclaration, _ now: Int64) -> Int64 {
        guard record.words == declaration.words else { return now }
        if let ended = records.ended { return min(max(record.done, ended), now) }
        return declaration.runsMissed ? min(record.done, now) : now
    }

    private mutating func plan(nextOf key: ByteName, after moment: Int64) {
        guard let rule = plans[key]?.declaration.rule else { return }
        var next = rule.next(after: moment, in: zone, at: place)
        // What the clock has shown before, before it was set back, has run.
        while let time = next, let span = spans.first(where: { $0.contains(time) }) {
            next = rule.next(after: span.upperBound, in: zone, at: place)
        }
        plans[key]?.next = next
    }

    /// The latest run between two moments that has not been while the clock showed its time before.
    private func lastRun(of rule: ScheduleRule, after begin: Int64, through end: Int64) -> Int64? {
        var last = rule.last(after: begin, through: end, in: zone, at: place)
        while let time = last, let span = spans.first(where: { $0.contains(time) }) {
            last = rule.last(after: begin, through: span.lowerBound - 1, in: zone, at: place)
        }
        return last
    }

    /// Says where the device is.
    mutating func move(to place: Place, now: Int64) {
        foundPlace = place
        for key in plans.keys where plans[key]?.declaration.rule.needsPosition ?? false {
            plan(nextOf: key, after: now)
        }
    }

    /// Plans anew in another time zone. What its clocks have shown already is not missed.
    mutating func changeZone(now: Int64) {
        for key in plans.keys {
            plans[key]?.done = now
            plan(nextOf: key, after: now)
        }
    }

    /// Lets the clock go on, forwards or backwards, and returns the runs that have come, in their order.
    /// - Parameter jumped: whether the clock has been set, or the machine has slept.
    mutating func advance(to now: Int64, jumped: Bool = false) -> [Due] {
        guard check(now) else { return [] }
        var jumped = jumped
        if now < end {
            remember(begin...end)
            begin = now
            for key in plans.keys { plans[key]?.done = now }
            jumped = true
        } else if jumped, now > end {
            remember(begin...end)
            begin = now
        }
        end = now
        var due: [Due] = []
        for key in plans.keys {
            guard let plan = plans[key] else { continue }
            if !jumped, let next = plan.next, now < next { continue }
            if let run = take(key, now) { due.append(run) }
            self.plan(nextOf: key, after: now)
        }
        return due.sorted { ($0.planned, $0.name) < ($1.planned, $1.name) }
    }

    /// Whether the clock can be right. The moment at which it becomes so is like a start.
    private mutating func check(_ now: Int64) -> Bool {
        let wasSet = isClockSet
        isClockSet = now >= (wasClockSet ? built : floor)
        if wasSet, !isClockSet { remember(begin...end) }
        guard isClockSet, !wasSet else { return isClockSet }
        (begin, end) = (now, now)
        for (key, plan) in plans {
            // What was planned while the clock was wrong was planned by it.
            let record = wasClockSet ? nil : records.runs[key.text]
            let done = record.map { self.done($0, plan.declaration, now) } ?? (wasClockSet ? min(plan.done, now) : now)
            plans[key]?.done = done
            self.plan(nextOf: key, after: done)
        }
        wasClockSet = true
        return true
    }

    private mutating func take(_ key: ByteName, _ now: Int64) -> Due? {
        guard let plan = plans[key] else { return nil }
        plans[key]?.done = now
        guard let planned = lastRun(of: plan.declaration.rule, after: plan.done, through: now), planned != plan.planned
        else { return nil }
        let isMissed = now - planned > Self.grace
        guard !isMissed || plan.declaration.runsMissed else { return nil }
        plans[key]?.planned = planned
        return Due(name: key.text, planned: planned, isMissed: isMissed, declaration: plan.declaration)
    }

    private mutating func remember(_ span: ClosedRange<Int64>) {
        spans = spans.filter { !(span.contains($0.lowerBound) && span.contains($0.upperBound)) } + [span]
        if spans.count > Self.maxSpans { spans.removeFirst() }
    }

    /// A run begins, planned or asked for by somebody.
    mutating func begin(_ name: String, at now: Int64) {
        plans[ByteName(name)]?.last = now
        plans[ByteName(name)]?.result = nil
    }

    /// It has ended.
    mutating func end(_ name: String, with result: String) { plans[ByteName(name)]?.result = result }

    /// Those whose last call failed. What was cut off, or is not known to have ended, has not failed.
    var failures: [(name: String, at: Int64, code: String)] {
        names.compactMap { name in
            guard let plan = plans[ByteName(name)], let last = plan.last, let result = plan.result,
                !["ok", CommandError.Code.cancelled.rawValue].contains(result)
            else { return nil }
            return (name, last, result)
        }
    }

    func declaration(of name: String) -> ScheduleDeclaration? { plans[ByteName(name)]?.declaration }

    /// What is kept over restarts.
    /// - Parameter isLast: whether the daemon ends, so that nothing is missed up to now.
    /// - Returns: nil if the clock is not set: then nothing new is known.
    func kept(at now: Int64, isLast: Bool) -> ScheduleRecords? {
        guard isClockSet else { return nil }
        var kept = ScheduleRecords()
        kept.newest = now
        kept.ended = isLast ? end : nil
        kept.place = foundPlace
        kept.spans = Array((spans + [begin...end]).suffix(Self.maxSpans))
        for (key, plan) in plans {
            kept.runs[key.text] = ScheduleRecords.Run(
                words: plan.declaration.words,
                done: plan.done,
                planned: plan.planned,
                last: plan.last,
                result: plan.result
            )
        }
        return kept
    }
}
