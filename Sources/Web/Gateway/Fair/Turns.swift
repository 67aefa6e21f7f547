internal import Concurrency
internal import NIOCore

/// Something that has work for the event loop, such as a connection with input.
protocol Worker: AnyObject {
    var peer: WebPeer { get }
    /// Whether it waits for its turn. For ``Turns`` only.
    var isWaiting: Bool { get set }
    /// Works until then or until there is nothing to do, and reads the clock after each step.
    /// - Returns: whether there is more to do.
    func work(until end: NIODeadline) -> Bool
}

/// The turns of all connections on the event loop, so that nobody delays a neighbour by more than a few milliseconds.
///
/// A slice is a millisecond. Who has just become readable comes before all who have used up a slice; peers take turns
/// in a ring, and so do the connections of each. There is one scheduled task for all: the loop polls its descriptors
/// only when no task is due, and with a task for each connection one always would be.
final class Turns {
    private let loop: any EventLoop
    private var inlineWork = InlineWork()
    private var fresh = Ring<WebPeer, any Worker>()
    private var busy = Ring<WebPeer, any Worker>()
    private var isScheduled = false
    private var isWorking = false
    /// Whether the newcomers took the whole time of the last task.
    private var owesBusy = false

    private static let sliceTime = TimeAmount.milliseconds(1)
    /// What most requests and messages need; who needs more waits with the others. Short, because many may come at once.
    private static let firstTime = TimeAmount.microseconds(50)
    /// A task due at once would run before the next poll.
    private static let breath = TimeAmount.microseconds(20)

    init(_ loop: any EventLoop) { self.loop = loop }

    /// A worker has something to do: now if nobody waits and little was done like that lately, else in its turn.
    func begin(_ worker: any Worker) {
        guard !worker.isWaiting else { return }
        let start = NIODeadline.now()
        if !isWorking, fresh.isEmpty, busy.isEmpty, inlineWork.mayBegin(at: start) {
            run(worker, for: Self.firstTime)
            inlineWork.add(.now() - start)
        } else {
            worker.isWaiting = true
            fresh.append(worker, of: worker.peer)
        }
        schedule()
    }

    private func schedule() {
        guard !isScheduled, !isWorking, !fresh.isEmpty || !busy.isEmpty else { return }
        isScheduled = true
        loop.assumeIsolated().scheduleTask(in: Self.breath) {
            self.isScheduled = false
            self.runSlice()
            self.schedule()
        }
    }

    private func runSlice() {
        let end = NIODeadline.now() + Self.sliceTime
        var servesBusy = false
        if owesBusy, let worker = busy.next() {
            servesBusy = true
            resume(worker, for: Self.sliceTime)
        }
        repeat {
            if let worker = fresh.next() {
                resume(worker, for: Self.firstTime)
            } else if let worker = busy.next() {
                servesBusy = true
                resume(worker, for: end - .now())
            } else {
                break
            }
        } while NIODeadline.now() < end
        owesBusy = !servesBusy && !busy.isEmpty
    }

    private func resume(_ worker: any Worker, for time: TimeAmount) {
        worker.isWaiting = false
        run(worker, for: time)
    }

    private func run(_ worker: any Worker, for time: TimeAmount) {
        isWorking = true
        let hasMore = worker.work(until: .now() + time)
        isWorking = false
        guard hasMore, !worker.isWaiting else { return }
        worker.isWaiting = true
        busy.append(worker, of: worker.peer)
    }
}

/// How much may be done at once, without a turn: a poll finds many connections readable, perhaps all of them one peer's,
/// and whoever comes last among them would wait for all.
private struct InlineWork {
    private var windowEnd = NIODeadline.now()
    private var spent = TimeAmount.zero

    private static let window = TimeAmount.milliseconds(2)
    private static let max = TimeAmount.milliseconds(1)

    mutating func mayBegin(at now: NIODeadline) -> Bool {
        if now >= windowEnd { (windowEnd, spent) = (now + Self.window, .zero) }
        return spent < Self.max
    }

    mutating func add(_ time: TimeAmount) { spent = spent + time }
}
