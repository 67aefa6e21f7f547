internal import Concurrency

/// The order in which texts are checked: the callers take turns, and each one's texts stay in their order. Who has lately
/// taken much processor time comes after those who have not, but has a turn after ``maxBefore`` of theirs.
///
/// A pure value.
struct CheckOrder<Text> {
    private var texts = Ring<String, Text>()
    private var costs = CheckCosts()
    /// How many were taken while somebody waited who has lately taken much.
    private var before = 0

    /// How many texts of others come before one of a caller who has lately taken much.
    static var maxBefore: Int { 8 }

    var count: Int { texts.count }

    /// - Parameter caller: whose turn it takes; the empty name is the host's own, which never takes too much.
    mutating func append(_ text: Text, of caller: String) { texts.append(text, of: caller) }

    /// Counts the processor time that a text of a caller has taken.
    mutating func charge(_ seconds: Double, to caller: String, at now: ContinuousClock.Instant) {
        if !caller.isEmpty { costs.add(seconds, of: caller, at: now) }
    }

    /// The text whose turn it is, which waits no more.
    mutating func next(at now: ContinuousClock.Instant) -> Text? {
        let isMuch: (String) -> Bool = { [costs] in costs.isMuch(of: $0, at: now) }
        let othersWait = texts.contains(where: isMuch)
        if before < Self.maxBefore || !othersWait, let text = texts.next(where: { !isMuch($0) }) {
            before = othersWait ? before + 1 : 0
            return text
        }
        before = 0
        return texts.next(where: isMuch)
    }
}

/// The processor time that callers have lately taken: a bucket for each that leaks a tenth of a processor.
struct CheckCosts {
    private var costs: [String: (seconds: Double, at: ContinuousClock.Instant)] = [:]

    /// More than this is much.
    private static let many = 0.1
    private static let leak = 0.1

    mutating func add(_ seconds: Double, of caller: String, at now: ContinuousClock.Instant) {
        let before = left(of: caller, at: now)
        costs[caller] = (before + seconds, now)
        guard costs.count > 64 else { return }
        costs = costs.filter { left(of: $0.key, at: now) > 0 }
    }

    func isMuch(of caller: String, at now: ContinuousClock.Instant) -> Bool { left(of: caller, at: now) > Self.many }

    private func left(of caller: String, at now: ContinuousClock.Instant) -> Double {
        guard let cost = costs[caller] else { return 0 }
        return max(0, cost.seconds - Self.leak * (cost.at.duration(to: now) / .seconds(1)))
    }
}
