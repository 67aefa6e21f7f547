internal import QuickConnect

/// Chooses among several receivers of gpsd: it stays with one as long as that has a fix, so that the position does not
/// jump. A value without clock or connection.
struct ReceiverChoice: Sendable {
    /// The receiver that last had a fix.
    private var current: (receiver: String, fix: ContinuousClock.Instant)?
    private var satellites: [[UInt8]: Int] = [:]

    /// How long a receiver may be silent before another one replaces it.
    private static let patience = Duration.seconds(PositionWish.freshness)
    /// More than gpsd can have, so that made-up names cannot use up memory.
    private static let mostReceivers = 16

    /// Whether a report counts. gpsd's own always do; those of a receiver do unless another one has a fix.
    /// - Parameters:
    ///   - instant: when it came.
    ///   - now: the same in seconds since 1970.
    mutating func admits(_ report: Report, at instant: ContinuousClock.Instant, now: Double) -> Bool {
        switch report {
        case .service, .devices, .otherData:
            return true
        case .sky(_, let used, let receiver):
            note(used, receiver)
            return !isTaken(from: receiver, at: instant)
        case .fix(let fix):
            guard !isTaken(from: fix.receiver, at: instant) else { return false }
            choose(fix, at: instant, now: now)
            return true
        }
    }

    /// How many satellites a receiver uses; nil if it has not reported that.
    func satellites(of receiver: String) -> Int? { satellites[Array(receiver.utf8)] }

    private mutating func note(_ used: Int, _ receiver: String) {
        if satellites.count >= Self.mostReceivers { satellites = [:] }
        satellites[Array(receiver.utf8)] = used > 0 ? used : nil
    }

    /// Whether another receiver has a fix.
    private func isTaken(from receiver: String, at instant: ContinuousClock.Instant) -> Bool {
        guard let current, !current.receiver.utf8.elementsEqual(receiver.utf8) else { return false }
        return current.fix.duration(to: instant) < Self.patience
    }

    /// A receiver that has lost its fix, or reports an old one, does not prevent another one from being chosen.
    private mutating func choose(_ fix: RawFix, at instant: ContinuousClock.Instant, now: Double) {
        let age = fix.position(source: "")?.age(at: now)
        current = age.map { abs($0) <= PositionWish.freshness } == true ? (fix.receiver, instant) : nil
    }
}
