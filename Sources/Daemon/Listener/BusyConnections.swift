import Fairness
import NIOCore
import NIOPosix
import QuickConnect
import Synchronization

/// The connections that wait for a turn on one event loop, and the one task that gives them their turns.
///
/// Who has just sent something comes before all who have used up a turn; among both, peers take turns, and then each
/// peer's connections. There is one task for all of them, which works once between two polls: NIO polls its descriptors
/// only when no task is due, and with a task for each busy connection one always is.
final class BusyConnections {
    /// Connections whose input has just come, but not the time to process it.
    private var fresh = Ring<Owner, ConnectionHandler>()
    /// Connections that have used up a turn and have more to do.
    private var busy = Ring<Owner, ConnectionHandler>()
    /// Connections with output that other connections' calls have caused, such as events.
    private var flushes = Ring<Owner?, ConnectionHandler>()
    /// Connections that have much to read.
    private var unread = Ring<Owner, ConnectionHandler>()
    private let polls: Polls?
    /// The poll before the last run, and the last bulk read.
    private var (lastRun, lastRead) = (-1, -1)
    /// How much has been read for connections that send much, since the last poll.
    private var reads = 0
    private var isScheduled = false
    /// Whether the output will be sent behind what the loop does now.
    private var flushIsDue = false
    /// How long connections have worked since the last poll.
    private var worked = TimeAmount.zero

    /// The time of a turn.
    static let turn = TimeAmount.milliseconds(1)
    /// The time of a turn of a connection that has just sent something while others wait.
    static let shortTurn = TimeAmount.microseconds(100)
    /// How long connections may work between two polls, besides those that the task gives a turn.
    private static let limit = TimeAmount.milliseconds(2)
    private static let flushTime = TimeAmount.microseconds(500)
    /// A task due at once would run before the loop polls.
    private static let breath = TimeAmount.microseconds(20)
    /// How many connections that send much are read between two polls.
    private static let maxReads = 8

    /// - Parameter polls: those of the loop; nil for a loop that does not count them, as in tests.
    init(_ polls: Polls?) { self.polls = polls }

    private var pollCount: Int { polls?.count.load(ordering: .relaxed) ?? lastRun + 1 }

    /// How long a connection may work at once, because it has just sent something; nil if it must wait for its turn.
    /// - Parameter isBusy: whether it used up a turn a moment ago.
    func time(isBusy: Bool) -> TimeAmount? {
        guard fresh.isEmpty, worked < Self.limit else { return nil }
        if worked < Self.turn, busy.isEmpty { return Self.turn }
        return isBusy ? nil : Self.shortTurn
    }

    /// Whether connections may work on before the loop polls.
    var hasTime: Bool { worked < Self.limit }

    /// Counts the time that a connection has worked.
    func count(_ time: TimeAmount, on loop: any EventLoop) {
        worked = worked + time
        if worked >= Self.turn { schedule(on: loop) }
    }

    /// Lets a connection wait for its turn.
    /// - Parameter isBusy: whether it has just used one up.
    func append(_ handler: ConnectionHandler, of peer: Owner, isBusy: Bool, on loop: any EventLoop) {
        if isBusy { busy.append(handler, of: peer) } else { fresh.append(handler, of: peer) }
        schedule(on: loop)
    }

    /// Lets a connection send after the earlier ones, because an event may have many subscribers.
    func flushLater(_ handler: ConnectionHandler, of peer: Owner?, on loop: any EventLoop) {
        flushes.append(handler, of: peer)
        guard !flushIsDue, !isScheduled else { return }
        // The lines of this turn of the loop in one write.
        flushIsDue = true
        loop.assumeIsolated().execute {
            self.flushIsDue = false
            self.flushSome(on: loop)
        }
    }

    /// Whether a connection that sends much may be read now. If not, its `readAgain()` is called later.
    func mayRead(_ handler: ConnectionHandler, of peer: Owner, on loop: any EventLoop) -> Bool {
        if lastRead != pollCount { (lastRead, reads) = (pollCount, 0) }
        reads += 1
        guard reads > Self.maxReads || !unread.isEmpty else { return true }
        unread.append(handler, of: peer)
        schedule(on: loop)
        return false
    }

    private func schedule(on loop: any EventLoop) {
        guard !isScheduled else { return }
        isScheduled = true
        loop.assumeIsolated().scheduleTask(in: Self.breath) { self.run(on: loop) }
    }

    /// Between two polls: those who have just sent something, some output, and one turn of a busy connection.
    private func run(on loop: any EventLoop) {
        isScheduled = false
        guard polls == nil || lastRun != pollCount else { return schedule(on: loop) }
        lastRun = pollCount
        worked = .zero
        let end = NIODeadline.now() + Self.turn
        while let handler = fresh.next() {
            handler.takeTurn(Self.shortTurn)
            if .now() >= end { break }
        }
        flushSome(on: loop)
        busy.next()?.takeTurn(Self.turn)
        for _ in 0..<Self.maxReads { unread.next()?.readAgain() }
        worked = .zero
        if !fresh.isEmpty || !busy.isEmpty || !unread.isEmpty { schedule(on: loop) }
    }

    private func flushSome(on loop: any EventLoop) {
        guard !flushes.isEmpty else { return }
        let begin = NIODeadline.now()
        while let handler = flushes.next() {
            handler.flushScheduled()
            if .now() >= begin + Self.flushTime { break }
        }
        if !flushes.isEmpty { schedule(on: loop) }
    }
}

/// Counts how often a loop has polled its descriptors and run what was due.
final class Polls: NIOEventLoopMetricsDelegate {
    let count = Atomic<Int>(0)

    func processedTick(info: NIOEventLoopTickInfo) { count.add(1, ordering: .relaxed) }
}
