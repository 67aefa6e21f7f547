import Concurrency
import Glibc
import QuickConnect
import QuickConnectClient

/// The callers' connections to the daemon: one for each caller, so that ids, order, `stop` and the limits of the log
/// apply per caller. Their number is limited, and idle ones are closed.
final class CallerSessions {
    /// A long line of the daemon that another thread should parse, and the number of its session.
    typealias Line = (session: Int, line: LongLine)

    /// Why a call was not taken.
    enum Refusal: Error, Equatable {
        /// All allowed connections are busy with calls of other callers.
        case tooManyCallers
        /// Too many calls of this caller already wait.
        case tooManyCalls
    }

    private let path: String
    private let limits: Limits
    private var sessions: [String: CallerSession] = [:]
    private var lastNumber = 0
    /// The callers whose connections have something to do, in turns.
    private var turns = Ring<String, String>()
    private var isWaiting: Set<String> = []
    /// Whose connections ``events`` has listed.
    private var polled: [String] = []

    static let most = 32
    private static let idleTime = Duration.seconds(60)

    /// - Parameters:
    ///   - path: the daemon's socket for this gateway.
    ///   - limits: what the daemon takes.
    init(path: String, _ limits: Limits) { (self.path, self.limits) = (path, limits) }

    var count: Int { sessions.count }

    /// Whether nothing is waiting or running.
    var isIdle: Bool { sessions.values.allSatisfy(\.isIdle) }

    /// Takes a call.
    func submit(_ call: IncomingCall) throws(Refusal) {
        let session = try session(of: call.caller)
        guard session.submit(call) else { throw .tooManyCalls }
        wait(call.caller)
    }

    private func session(of caller: String) throws(Refusal) -> CallerSession {
        if let session = sessions[caller] { return session }
        guard sessions.count < Self.most || closeIdlest() else { throw .tooManyCallers }
        lastNumber += 1
        let session = CallerSession(caller, path: path, number: lastNumber, limits)
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

    /// What to wait for in poll(2); ``note(_:)`` takes the results.
    var events: [pollfd] {
        polled = Array(sessions.keys)
        return polled.compactMap { sessions[$0]?.events }
    }

    /// Whether a connection has something to do now.
    var isReady: Bool { !turns.isEmpty }

    var nextMoment: ContinuousClock.Instant? {
        let idle = sessions.values.filter(\.isIdle).map { $0.lastUse + Self.idleTime }.min()
        return ([idle] + sessions.values.map(\.nextMoment)).compactMap { $0 }.min()
    }

    private func wait(_ caller: String) {
        if isWaiting.insert(caller).inserted { turns.append(caller, of: caller) }
    }

    /// Notes whose connections have something to do, and closes those that were idle for long.
    func note(_ ready: ArraySlice<pollfd>) {
        let now = ContinuousClock.now
        for (caller, entry) in zip(polled, ready) where entry.revents != 0 { wait(caller) }
        for (caller, session) in sessions {
            if session.nextMoment.map({ $0 <= now }) ?? false { wait(caller) }
            if session.isIdle, session.lastUse + Self.idleTime <= now { close(caller) }
        }
    }

    /// Lets the connection whose turn it is go on.
    /// - Parameter give: gets the results of calls.
    /// - Returns: what another thread should parse.
    func advance(give: (CallerSession.Result) -> Void) -> [(caller: String, line: Line)] {
        guard let caller = turns.next() else { return [] }
        isWaiting.remove(caller)
        guard let session = sessions[caller] else { return [] }
        for result in session.advance() { give(result) }
        return session.takeLongLines().map { (caller, (session.number, $0)) }
    }

    /// A long line was parsed. The session may be over.
    func take(_ line: ParsedLine, _ number: Int, of caller: String) {
        guard let session = sessions[caller], session.number == number else { return }
        session.take(line)
        wait(caller)
    }

    func closeAll() {
        for session in sessions.values { session.close() }
        sessions = [:]
    }
}
