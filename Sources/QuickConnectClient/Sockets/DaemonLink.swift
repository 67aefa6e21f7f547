public import Glibc
internal import Linux

/// A conversation over a socket for a loop that polls: connects when that is needed, and again when the connection is
/// lost. For one thread, which calls ``advance()``, waits for ``events`` and ``nextMoment``, and then calls
/// ``receive()``.
public final class DaemonLink {
    /// Whom it tells.
    public protocol Owner: AnyObject {
        /// There is a connection. The lines that it answers are said first (``ClientConversation/connected(saying:)``).
        func didConnect(again: Bool) -> [UInt8]
        func didLose(_ reason: String)
        /// No daemon answers the first time; it is tried again.
        func didNotConnect(_ failure: SocketPaths.NoDaemon)
    }

    private let paths: [String]
    /// Whether it gives up where no daemon answers the first time, although one is needed.
    private let givesUp: Bool
    /// How long a daemon has to accept. The thread waits for it.
    private let patience: Duration
    /// What is under way, what waits, and who answers.
    public var conversation: ClientConversation
    /// The bytes that wait for the socket.
    public let outbox = Outbox()
    /// Told of connections and of messages.
    public weak var owner: (any Owner)?
    /// The connection; nil while there is none.
    public private(set) var connection: DaemonConnection?
    /// Why there is no connection; nil where there is one, or none was tried yet.
    public private(set) var problem: String?
    private var connectedAt = ContinuousClock.now
    private var retryAt: ContinuousClock.Instant?
    private var backoff = Backoff()

    /// Whether nothing may be sent yet, as long as a script's text is only being tried.
    public var isHeld = false
    /// Whether a connection is wanted, also where nothing waits.
    public var isWanted = false
    /// Whether what waits is pointless without a daemon.
    public var isNeeded = false
    private var hasTold = false

    /// - Parameters:
    ///   - paths: the sockets to try, in their order.
    ///   - givesUp: throw where no daemon answers the first time, instead of trying again.
    ///   - patience: how long a daemon has to accept.
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

    /// Connects where that is needed, sends what can be sent now, and fails the calls whose deadline is over.
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

    /// Puts what is to be sent into the outbox, which ``advance()`` does too: another thread finds it there.
    public func fillOutbox() {
        if conversation.hasOutput { outbox.append(conversation.takeOutput()) }
    }

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
            problem = "\(error)"
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

    /// When to look again without an event.
    public var nextMoment: ContinuousClock.Instant? {
        let isTrying = connection == nil && !isHeld && (isWanted || conversation.needsConnection)
        return [isTrying ? retryAt : nil, conversation.nextDeadline].compactMap { $0 }.min()
    }

    /// Takes in what is there now.
    public func receive() {
        receive { conversation, bytes in conversation.receive(bytes) }
    }

    /// Takes in what is there now, and hands on the messages unread, without line breaks.
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
