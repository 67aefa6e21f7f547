internal import CALSA
internal import Glibc
internal import Logging

/// Restarts a PCM after an xrun or after the machine was suspended, as often as it makes sense.
struct StreamRecovery {
    private let subject: String
    private let logger: Logger
    private var budget = RecoveryBudget()

    /// - Parameter subject: the PCM, such as `the PCM default`.
    init(subject: String, logger: Logger) {
        self.subject = subject
        self.logger = logger
    }

    /// How often it was recovered.
    var total: Int { budget.total }

    /// Prepares the PCM again, or resumes it; throws if that is not possible. A capturing PCM must be started after
    /// that.
    mutating func recover(_ pcm: borrowing PCM, from error: ALSAError) throws(StreamFailure) {
        switch error.number {
        case EINTR, EAGAIN: return
        case EPIPE, ESTRPIPE, EIO: break
        default: throw .alsa(error)
        }
        guard case .recover(let isNewEpisode) = budget.decide(at: .now) else { throw .unrecoverable(error) }
        do throws(ALSAError) {
            if error.number != ESTRPIPE || !Self.resume(pcm) { try pcm.prepare() }
        } catch {
            throw .alsa(error)
        }
        if isNewEpisode { logger.warning("\(subject) had to be recovered: \(error)") }
    }

    /// Logs one line if there were more recoveries than the first, which was logged.
    func report() {
        if total > 1 { logger.notice("\(subject) was recovered \(total) times in this opening") }
    }

    /// Asks a suspended PCM to continue where it was.
    /// - Returns: whether it does. Some cannot, and some report success but stay suspended.
    private static func resume(_ pcm: borrowing PCM) -> Bool {
        for _ in 0..<10 {
            do throws(ALSAError) {
                try pcm.resume()
                return !pcm.isSuspended
            } catch {
                guard error.number == EAGAIN else { return false }
                usleep(50_000)
            }
        }
        return false
    }
}

/// A clock for a PCM that has none.
///
/// ALSA's `null` and `file` plugins take any amount of sound at once. With this clock, sound takes as long on them as
/// on a loudspeaker.
struct Pacer {
    let start: SuspendingClock.Instant
    let rate: Int
    /// Frames that may be written ahead of the clock.
    let lead: Int

    /// The number of frames that the clock has passed.
    func elapsed(at now: SuspendingClock.Instant) -> Int {
        Int(start.duration(to: now) / .seconds(1) * Double(rate))
    }

    /// How many frames may be written now.
    func room(written: Int, at now: SuspendingClock.Instant) -> Int {
        max(0, elapsed(at: now) + lead - written)
    }
}

/// Detects that a PCM has stopped: because its server was stopped, its card's clock froze, or nothing is linked to its
/// stream.
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
    /// - Returns: whether this number has not changed for longer than ``patience``.
    mutating func isFrozen(played: Int, at now: SuspendingClock.Instant) -> Bool {
        if played != position { (position, since) = (played, now) }
        return since.duration(to: now) >= patience
    }
}

/// Limits how often a PCM may be restarted.
///
/// After an underrun the sound goes on with a gap. Some PCMs, however (PipeWire's plugin after its server was killed),
/// can be recovered endlessly in a busy loop without playing anything; those are given up.
struct RecoveryBudget {
    /// Recoveries in a row, each before anything can have been heard after the previous one. Two are normal when a
    /// machine wakes up: one for the resume, one for the underrun.
    static let limit = 2
    /// Recoveries closer together than this count as in a row. A busy machine's underruns are a buffer apart.
    static let row = Duration.milliseconds(50)
    /// Underruns closer together than this are one episode, which is logged once.
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
