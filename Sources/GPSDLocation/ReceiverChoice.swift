internal import QuickConnect

/// Which of gpsd's receivers counts, where it has several: one, as long as it has a fix, so that the position does not
/// jump between them. A value without clock or connection.
struct ReceiverChoice: Sendable {
    /// The one that had a fix last.
    private var current: (receiver: String, fix: ContinuousClock.Instant)?
    private var satellites: [[UInt8]: Int] = [:]

    /// How long a receiver may say nothing before another one takes its place.
    private static let patience = Duration.seconds(PositionWish.freshness)
    /// More than gpsd can have: whoever makes up names gets no memory.
    private static let mostReceivers = 16

    /// Whether a report counts: gpsd's own always do, those of receivers unless another one has a fix.
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

    /// How many satellites a receiver uses; nil where it has not told.
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

    /// One that has lost its fix, or tells an old one, keeps nobody else from being chosen.
    private mutating func choose(_ fix: RawFix, at instant: ContinuousClock.Instant, now: Double) {
        let age = fix.position(source: "")?.age(at: now)
        current = age.map { abs($0) <= PositionWish.freshness } == true ? (fix.receiver, instant) : nil
    }
}
