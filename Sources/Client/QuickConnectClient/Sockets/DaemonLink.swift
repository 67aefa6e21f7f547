public import Glibc
internal import Linux

/// A conversation over a socket for a loop that polls: connects when needed, and reconnects when the connection is
/// lost. For one thread, which calls ``advance()``, waits for ``events`` and ``nextMoment``, and then calls
/// ``receive()``.
public final class DaemonLink {
    /// The object that it reports to.
    public protocol Owner: AnyObject {
        /// There is a connection. The returned lines are sent first (``ClientConversation/connected(saying:)``).
        func didConnect(again: Bool) -> [UInt8]
        func didLose(_ reason: String)
        /// No daemon answered the first attempt; the link keeps trying.
        func didNotConnect(_ failure: SocketPaths.NoDaemon)
    }

    private let paths: [String]
    /// Whether it gives up if no daemon answers the first attempt although one is needed.
    private let givesUp: Bool
    /// How long to wait for a daemon to accept. The thread waits for it.
    private let patience: Duration
    /// Which calls are running, which wait, and which handlers answer.
    public var conversation: ClientConversation
    /// The bytes that wait for the socket.
    public let outbox = Outbox()
    /// Receives connections and messages.
    public weak var owner: (any Owner)?
    /// The connection; nil while there is none.
    public private(set) var connection: DaemonConnection?
    /// Why there is no connection; nil if there is one, or none was tried yet.
    public private(set) var problem: String?
    private var connectedAt = ContinuousClock.now
    private var retryAt: ContinuousClock.Instant?
    private var backoff = Backoff()

    /// Whether nothing may be sent yet, because a script is only being tried.
    public var isHeld = false
    /// Whether a connection is wanted even if nothing waits.
    public var isWanted = false
    /// Whether what waits is useless without a daemon.
    public var isNeeded = false
    private var hasTold = false

    /// - Parameters:
    ///   - paths: the sockets to try, in order.
    ///   - givesUp: throw if no daemon answers the first attempt, instead of trying again.
    ///   - patience: how long to wait for a daemon to accept.
    public init(
        _ conversation: ClientConversation = ClientConversation(),
        paths: [String],
        givesUp: Bool = false,
        patience: Duration = .seconds(2)
    ) {
        self.conversation = conversation
        self.paths = paths
        self.givesUp = givesUp
        self.patience = patience
    }

    // MARK: In the loop

    /// Connects if needed, sends what can be sent now, and fails the calls whose deadline has passed.
    public func advance() throws(SocketPaths.NoDaemon) {
        conversation.advance(to: .now)
        if connection == nil { try connectIfDue() }
        guard let connection else { return }
        fillOutbox()
        do throws(SystemCallError) {
            try outbox.flush { bytes throws(SystemCallError) in try connection.sendSome(bytes) }
        } catch {
            lose("\(error)")
        }
    }

    /// Moves what is to be sent into the outbox, where another thread can find it. ``advance()`` does this, too.
    public func fillOutbox() {
        if conversation.hasOutput { outbox.append(conversation.takeOutput()) }
    }

    /// How many bytes wait for the socket, or for ``advance()``.
    public var unsentCount: Int { outbox.count + conversation.output.count }

    private func connectIfDue() throws(SocketPaths.NoDaemon) {
        guard !isHeld, isWanted || conversation.needsConnection, retryAt.map({ $0 <= .now }) ?? true else { return }
        do throws(SocketPaths.NoDaemon) {
            connection = try SocketPaths.connect(paths, before: .now + patience)
        } catch {
            if conversation.connectionCount == 0 {
                if givesUp, isNeeded { throw error }
                if !hasTold { owner?.didNotConnect(error) }
                hasTold = true
            }
            problem = error.line
            retryAt = .now + backoff.failed()
            return
        }
        (retryAt, problem) = (nil, nil)
        connectedAt = .now
        let lines = owner?.didConnect(again: conversation.connectionCount > 0) ?? []
        conversation.connected(saying: lines)
    }

    /// What to wait for in poll(2).
    public var events: pollfd {
        guard let connection else { return pollfd(fd: -1, events: 0, revents: 0) }
        let events = outbox.isEmpty && !conversation.hasOutput ? POLLIN : POLLIN | POLLOUT
        return pollfd(fd: connection.descriptor, events: Int16(events), revents: 0)
    }

    /// When to call ``advance()`` again without an event.
    public var nextMoment: ContinuousClock.Instant? {
        let isTrying = connection == nil && !isHeld && (isWanted || conversation.needsConnection)
        return [isTrying ? retryAt : nil, conversation.nextDeadline].compactMap { $0 }.min()
    }

    /// Processes what has been received.
    public func receive() {
        receive { conversation, bytes in conversation.receive(bytes) }
    }

    /// Processes what has been received, and passes on the messages unparsed, without line breaks.
    public func receive(passing take: (UnsafeBufferPointer<UInt8>) -> Void) {
        receive { conversation, bytes in conversation.receive(bytes, passing: take) }
    }

    private func receive(_ take: (inout ClientConversation, UnsafeBufferPointer<UInt8>) -> Void) {
        guard let connection else { return }
        do throws(SystemCallError) {
            let isOpen = try connection.receiveSome { take(&conversation, $0) }
            if !isOpen { lose("the daemon closed the connection") }
        } catch {
            lose("\(error)")
        }
    }

    private func lose(_ reason: String) {
        connection = nil
        problem = reason
        outbox.clear()
        conversation.lost(reason)
        retryAt = .now + backoff.lost(after: .now - connectedAt)
        owner?.didLose(reason)
    }

    /// Ends the connection.
    public func close() {
        connection = nil
        outbox.clear()
        conversation.close("this program closed it")
    }
}
