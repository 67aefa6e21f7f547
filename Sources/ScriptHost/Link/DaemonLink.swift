internal import Glibc
import Linux
internal import QuickConnectClient

/// The connection to the daemon, made when it is first needed and again when it is lost. For one thread.
///
/// Lines wait while there is no connection. What was handed to a connection is never sent to another one.
final class DaemonLink {
    /// Whom it tells.
    protocol Owner: AnyObject {
        /// There is a connection. The lines that are answered are sent before all that waits.
        func didConnect(again: Bool) -> [String]
        func didLose(_ reason: String)
        /// No daemon answers the first time; it is tried again.
        func didNotConnect(_ failure: SocketPaths.NoDaemon)
    }

    private let paths: [String]
    /// Whether it gives up where no daemon answers the first time, although one is needed.
    private let givesUp: Bool
    let outbox = Outbox()
    weak var owner: (any Owner)?
    private(set) var connection: DaemonConnection?
    private var inbox = Inbox()
    private var waiting: [UInt8] = []
    private var connectionCount = 0
    /// How often a connection was lost.
    private(set) var lossCount = 0
    private var retryAt: ContinuousClock.Instant?
    private var pause = Duration.milliseconds(50)
    private static let longestPause = Duration.seconds(5)
    /// How long a daemon has to accept.
    private static let patience = Duration.seconds(2)

    /// Whether lines may be sent. A script whose text is only being tried holds them back.
    var isHeld: Bool
    /// Whether a connection is wanted, also where no line waits.
    var isWanted = false
    /// Whether what waits is pointless without a daemon.
    var isNeeded = false
    private var hasTold = false

    /// - Parameters:
    ///   - paths: the sockets to try, in their order.
    ///   - givesUp: throw where no daemon answers the first time, instead of trying again.
    init(paths: [String], givesUp: Bool, isHeld: Bool) {
        self.paths = paths
        self.givesUp = givesUp
        self.isHeld = isHeld
    }

    /// Takes a line.
    func send(_ line: String) { send(Array("\(line)\n".utf8)) }

    /// Takes lines, each with its line break. They wait for a connection where there is none.
    func send(_ lines: some Collection<UInt8>) {
        if connection == nil { waiting += lines } else { outbox.append(lines) }
    }

    // MARK: In the loop

    /// Connects where that is needed, and sends what can be sent now.
    func advance() throws(SocketPaths.NoDaemon) {
        if connection == nil { try connectIfDue() }
        guard let connection else { return }
        do throws(SystemCallError) {
            try outbox.flush { bytes throws(SystemCallError) in try connection.sendSome(bytes) }
        } catch {
            lose("\(error)")
        }
    }

    private func connectIfDue() throws(SocketPaths.NoDaemon) {
        guard !isHeld, isWanted || !waiting.isEmpty, retryAt.map({ $0 <= .now }) ?? true else { return }
        do throws(SocketPaths.NoDaemon) {
            connection = try SocketPaths.connect(paths, before: .now + Self.patience)
        } catch {
            if connectionCount == 0 {
                if givesUp, isNeeded { throw error }
                if !hasTold { owner?.didNotConnect(error) }
                hasTold = true
            }
            retryAt = .now + pause
            pause = min(pause * 2, Self.longestPause)
            return
        }
        retryAt = nil
        connectionCount += 1
        let first = owner?.didConnect(again: connectionCount > 1) ?? []
        for line in first { outbox.append("\(line)\n".utf8) }
        outbox.append(waiting)
        waiting = []
    }

    /// What to wait for in poll(2).
    var events: pollfd {
        guard let connection else { return pollfd(fd: -1, events: 0, revents: 0) }
        let events = outbox.isEmpty ? POLLIN : POLLIN | POLLOUT
        return pollfd(fd: connection.descriptor, events: Int16(events), revents: 0)
    }

    /// When to look again without an event.
    var nextTry: ContinuousClock.Instant? { connection == nil && (isWanted || !waiting.isEmpty) ? retryAt : nil }

    /// The lines that are there now, each with its line break.
    func receive() -> [UInt8] {
        guard let connection else { return [] }
        switch inbox.receive(from: connection.descriptor) {
        case .lines(let lines):
            if !lines.isEmpty { pause = .milliseconds(50) }
            return lines
        case .closed: lose("the daemon closed the connection")
        case .failed(let code): lose("recv: \(SystemCallError.text(code))")
        }
        return []
    }

    private func lose(_ reason: String) {
        connection = nil
        lossCount += 1
        outbox.clear()
        inbox.clear()
        retryAt = .now + pause
        owner?.didLose(reason)
    }
}
