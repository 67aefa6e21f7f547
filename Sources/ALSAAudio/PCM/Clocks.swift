internal import Glibc

/// The clock of a PCM that has none.
///
/// ALSA's `null` and `file` plugins take any amount of sound at once. Paced by this clock, the sound takes as long
/// through them as through a loudspeaker.
struct Pacer {
    private let start: SuspendingClock.Instant
    private let rate: Int
    private let lead: Int

    /// - Parameter lead: frames that may be written ahead of the clock.
    init(start: SuspendingClock.Instant, rate: Int, lead: Int) {
        self.start = start
        self.rate = rate
        self.lead = lead
    }

    /// The number of frames that the clock has passed.
    func elapsed(at now: SuspendingClock.Instant) -> Int {
        Int(start.duration(to: now) / .seconds(1) * Double(rate))
    }

    /// How many frames may be written now.
    func room(written: Int, at now: SuspendingClock.Instant) -> Int {
        max(0, elapsed(at: now) + lead - written)
    }
}

/// Notices that a PCM stands still: a server that was stopped, a card whose clock froze, a stream that nobody links.
struct ProgressWatch {
    let patience: Duration
    private var position: Int
    private var since: SuspendingClock.Instant

    init(patience: Duration, start: SuspendingClock.Instant) {
        self.patience = patience
        position = 0
        since = start
    }

    /// - Parameter played: frames heard so far.
    /// - Returns: whether this number has not changed for the patience given.
    mutating func isFrozen(played: Int, at now: SuspendingClock.Instant) -> Bool {
        if played != position { (position, since) = (played, now) }
        return since.duration(to: now) >= patience
    }
}

/// Decides how often a PCM may be set going again.
///
/// After an underrun the sound goes on with a gap. There are PCMs though (PipeWire's plugin, when its server was
/// killed) that can be recovered for ever without playing anything, as fast as the processor can: those are given up.
struct RecoveryBudget {
    /// Recoveries in a row, each before anything can have been heard after the one before. Two are normal when a
    /// machine wakes: it resumes, and then there is the underrun.
    static let limit = 2
    /// Nearer to each other than this, recoveries are in a row. A busy machine's underruns are a buffer apart.
    static let row = Duration.milliseconds(50)
    /// Nearer to each other than this, underruns are one episode, which is logged once.
    static let episode = Duration.seconds(5)

    enum Decision: Equatable {
        case recover(isNewEpisode: Bool)
        case giveUp
    }

    /// All recoveries so far.
    private(set) var total = 0
    private var inARow = 0
    private var last: SuspendingClock.Instant?

    mutating func decide(at now: SuspendingClock.Instant) -> Decision {
        let gap = last.map { $0.duration(to: now) }
        last = now
        inARow = gap.map { $0 < Self.row } == true ? inARow + 1 : 1
        guard inARow <= Self.limit else { return .giveUp }
        total += 1
        return .recover(isNewEpisode: gap.map { $0 > Self.episode } ?? true)
    }
}

func sleepMilliseconds(_ milliseconds: Int32) {
    usleep(UInt32(max(1, milliseconds)) * 1000)
}
