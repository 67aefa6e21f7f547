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
