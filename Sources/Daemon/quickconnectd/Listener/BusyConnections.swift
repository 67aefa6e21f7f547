internal import CLinux
import Concurrency
import QuickConnect
import Runtime

/// The connections that wait for a turn, and the turn of them that the loop takes between two looks at its descriptors.
///
/// Who has just sent something comes before all who have used up a turn; among both, peers take turns, and then each
/// peer's connections.
final class BusyConnections {
    /// Connections whose input has just come, but not the time to process it. Of fifty peers with twenty each, a neighbour
    /// with one waits for a turn, not for one of each peer.
    private var fresh = Ring<Owner, ConnectionHandler>(newcomersFirst: true)
    /// Connections that have used up a turn and have more to do.
    private var busy = Ring<Owner, ConnectionHandler>()
    /// Connections with output that other connections' calls have caused, such as events.
    private var flushes = Ring<Owner?, ConnectionHandler>()
    /// Connections that have more to read.
    private var unread = Ring<Owner, ConnectionHandler>()
    /// How long connections have worked since the last look.
    private var worked = LoopSpan.zero

    /// The time of a turn.
    static let turn = LoopSpan.milliseconds(1)
    /// The time of a turn of a connection that has just sent something while others wait.
    static let shortTurn = LoopSpan.microseconds(100)
    /// How long connections may work between two looks, besides those that are given a turn.
    private static let limit = LoopSpan.milliseconds(2)
    private static let flushTime = LoopSpan.microseconds(500)
    /// How many connections that send much are read between two looks.
    private static let maxReads = 8

    /// How long a connection may work at once, because it has just sent something; nil if it must wait for its turn.
    /// - Parameter isBusy: whether it used up a turn a moment ago.
    func time(isBusy: Bool) -> LoopSpan? {
        guard fresh.isEmpty, worked < Self.limit else { return nil }
        if worked < Self.turn, busy.isEmpty { return Self.turn }
        return isBusy ? nil : Self.shortTurn
    }

    /// Whether connections may work on before the loop looks at its descriptors.
    var hasTime: Bool { worked < Self.limit }

    /// Counts the time that a connection has worked.
    func count(_ time: LoopSpan) { worked = worked + time }

    /// Lets a connection wait for its turn.
    /// - Parameter isBusy: whether it has just used one up.
    func append(_ handler: ConnectionHandler, of peer: Owner, isBusy: Bool) {
        if isBusy { busy.append(handler, of: peer) } else { fresh.append(handler, of: peer) }
    }

    /// Lets a connection send after the earlier ones, because an event may have many subscribers.
    func flushLater(_ handler: ConnectionHandler, of peer: Owner?) { flushes.append(handler, of: peer) }

    /// Lets a connection that has just been read be read on in its turn.
    func readLater(_ handler: ConnectionHandler, of peer: Owner) { unread.append(handler, of: peer) }

    /// Between two looks: those who have just sent something, some output, one turn of a busy connection, some reads.
    /// - Returns: whether more is to be done.
    func takeTurn() -> Bool {
        defer { worked = .zero }
        if isEmpty { return false }
        let end = LoopTime.now() + Self.turn
        worked = .zero
        while let handler = fresh.next() {
            handler.takeTurn(Self.shortTurn)
            if .now() >= end { break }
        }
        flushSome()
        busy.next()?.takeTurn(Self.turn)
        for _ in 0..<min(unread.count, Self.maxReads) { unread.next()?.readOn() }
        return !isEmpty
    }

    private var isEmpty: Bool { fresh.isEmpty && flushes.isEmpty && busy.isEmpty && unread.isEmpty }

    private func flushSome() {
        guard !flushes.isEmpty else { return }
        let end = LoopTime.now() + Self.flushTime
        while let handler = flushes.next() {
            handler.flushScheduled()
            if .now() >= end { break }
        }
    }
}

/// The connections that are not read now, because their peers have used their share of the memory.
///
/// A peer whose share is full of beginnings of lines would wait for their ends for ever. So one connection at a time is
/// read all the same, in turns of the peers, until its line has ended; one whose line does not end in time is closed.
final class UnreadConnections {
    private let memory: PeerMemory
    private let loop: Loop
    private var waiting = Ring<Owner, ConnectionHandler>()
    /// The connection that is read all the same, until when, and how often a line of it had ended before.
    private var exempt: (handler: ConnectionHandler, end: LoopTime, lineCount: Int)?
    private var isScheduled = false

    private static let time = LoopSpan.seconds(2)
    private static let pause = LoopSpan.milliseconds(10)

    init(_ memory: PeerMemory, _ loop: Loop) { (self.memory, self.loop) = (memory, loop) }

    /// Whether a connection may be read. If not, its `readAgain()` is called when it may.
    func mayRead(_ handler: ConnectionHandler, for caller: Caller) -> Bool {
        guard memory.isUsedUp(by: caller), !isExempt(handler) else { return true }
        waiting.append(handler, of: caller.owner)
        schedule()
        return false
    }

    /// Whether it is read though its peer has used its share: only until its line has ended, or each of many peers would
    /// be left with most of its next line.
    func isExempt(_ handler: ConnectionHandler) -> Bool {
        guard let exempt, exempt.handler === handler else { return false }
        return !handler.hasFinishedLine(since: exempt.lineCount)
    }

    private func schedule() {
        guard !isScheduled else { return }
        isScheduled = true
        // Memory is given back on any thread, so this asks; it does so only while somebody is not read.
        _ = loop.after(Self.pause) { self.check() }
    }

    private func check() {
        isScheduled = false
        endExemption()
        for _ in 0..<waiting.count {
            guard let handler = waiting.next(), let caller = handler.connection?.caller else { continue }
            if handler.holdsNothing || !memory.isUsedUp(by: caller) {
                handler.readAgain()
            } else if exempt == nil, handler.hasUnfinishedLine {
                exempt = (handler, .now() + Self.time, handler.lineCount)
                handler.readAgain()
            } else {
                waiting.append(handler, of: caller.owner)
            }
        }
        if !waiting.isEmpty || exempt != nil { schedule() }
    }

    private func endExemption() {
        guard let (handler, end, lineCount) = exempt else { return }
        if handler.connection == nil || handler.hasFinishedLine(since: lineCount) {
            exempt = nil
        } else if handler.hasUnfinishedLine, .now() >= end {
            exempt = nil
            handler.refuseUnfinishedLine()
        }
    }
}

/// Whether a turn is over, asked after each call.
///
/// Asking the clock takes half as long as a small call. So the processor's counter is asked first, which takes a tenth of
/// that: the clock is, when some microseconds may have passed, and each so many times in case the counter stands still.
struct TurnClock {
    private let end: LoopTime
    private var last = qc_ticks()
    private var count = 0

    private static let few = qc_few_ticks()
    private static let maxUnasked = 64

    init(_ end: LoopTime) { self.end = end }

    /// Whether it is over. Never at the first time: each turn does something.
    var isOver: Bool {
        @inline(__always)
        mutating get {
            count += 1
            let ticks = qc_ticks()
            guard ticks &- last >= Self.few || count > Self.maxUnasked else { return false }
            let isFirst = count == 1
            (last, count) = (ticks, 1)
            return !isFirst && LoopTime.now() >= end
        }
    }
}
