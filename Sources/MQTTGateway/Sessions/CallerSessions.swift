import Glibc

/// The callers' connections to the daemon: one for each caller, so that ids, order, `stop` and the limits of the log
/// apply per caller. Their number is limited, and idle ones are closed.
final class CallerSessions {
    typealias Finished = [(answer: AnswerAddress, outcome: CallerSession.Outcome)]

    /// Why a call was not taken.
    enum Refusal: Error, Equatable {
        /// All allowed connections are busy with calls of other callers.
        case tooManyCallers
        /// Too many calls of this caller already wait.
        case tooManyCalls
    }

    private let path: String
    private var sessions: [String: CallerSession] = [:]

    static let most = 32
    private static let idleTime = Duration.seconds(60)

    /// - Parameter path: the daemon's socket for this gateway.
    init(path: String) { self.path = path }

    var count: Int { sessions.count }

    /// Whether nothing is waiting or running.
    var isIdle: Bool { sessions.values.allSatisfy(\.isIdle) }

    /// Takes a call.
    func submit(_ call: IncomingCall) throws(Refusal) {
        let session = try session(of: call.caller)
        guard session.submit(call) else { throw .tooManyCalls }
    }

    private func session(of caller: String) throws(Refusal) -> CallerSession {
        if let session = sessions[caller] { return session }
        guard sessions.count < Self.most || closeIdlest() else { throw .tooManyCallers }
        let session = CallerSession(caller, path: path)
        sessions[caller] = session
        return session
    }

    private func closeIdlest() -> Bool {
        guard let idlest = sessions.filter(\.value.isIdle).min(by: { $0.value.lastUse < $1.value.lastUse }) else {
            return false
        }
        close(idlest.key)
        return true
    }

    private func close(_ caller: String) { sessions.removeValue(forKey: caller)?.close() }

    // MARK: In the loop

    var events: [pollfd] { sessions.values.map(\.events) }

    var nextMoment: ContinuousClock.Instant? {
        let idle = sessions.values.filter(\.isIdle).map { $0.lastUse + Self.idleTime }.min()
        return ([idle] + sessions.values.map(\.nextMoment)).compactMap { $0 }.min()
    }

    func advance() -> Finished {
        let now = ContinuousClock.now
        for (caller, session) in sessions where session.isIdle && session.lastUse + Self.idleTime <= now {
            close(caller)
        }
        return sessions.values.flatMap { $0.advance() }
    }

    func closeAll() {
        for session in sessions.values { session.close() }
        sessions = [:]
    }
}
