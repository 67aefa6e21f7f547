import Fairness
import NIOCore
import QuickConnect

/// The connections that are not read now, because their peers have used their share of the memory.
///
/// A peer whose share is full of beginnings of lines would wait for their ends for ever. So one connection at a time is
/// read all the same, in turns of the peers, until its line has ended; one whose line does not end in time is closed.
final class UnreadConnections {
    private let memory: PeerMemory
    private var waiting = Ring<Owner, ConnectionHandler>()
    /// The connection that is read all the same, until when, and how often a line of it had ended before.
    private var exempt: (handler: ConnectionHandler, end: NIODeadline, lineCount: Int)?
    private var isScheduled = false

    private static let time = TimeAmount.seconds(2)
    private static let pause = TimeAmount.milliseconds(10)

    init(_ memory: PeerMemory) { self.memory = memory }

    /// Whether a connection may be read. If not, its `readAgain()` is called when it may.
    func mayRead(_ handler: ConnectionHandler, for caller: Caller, on loop: any EventLoop) -> Bool {
        guard memory.isUsedUp(by: caller), exempt?.handler !== handler else { return true }
        waiting.append(handler, of: caller.owner)
        schedule(on: loop)
        return false
    }

    private func schedule(on loop: any EventLoop) {
        guard !isScheduled else { return }
        isScheduled = true
        // Memory is given back on any thread, so this asks; it does so only while somebody is not read.
        loop.assumeIsolated().scheduleTask(in: Self.pause) { self.check(on: loop) }
    }

    private func check(on loop: any EventLoop) {
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
        if !waiting.isEmpty || exempt != nil { schedule(on: loop) }
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
