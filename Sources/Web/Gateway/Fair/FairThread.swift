internal import Concurrency
internal import NIOCore
internal import NIOPosix

/// A thread for what would block the event loop, such as files and large texts: the peers take turns, and who has had
/// nothing done lately comes first. For use on the event loop only.
final class FairThread {
    private typealias Job = () -> EventLoopFuture<Void>

    private let pool: NIOThreadPool
    let loop: any EventLoop
    /// How many jobs are given to the thread at once, so that it need not wait for the loop between them.
    private let atOnce: Int
    /// The loop polls only when no task is due: a job that followed the one before at once would keep it from that.
    private static let breath = TimeAmount.microseconds(20)
    private var isBreathing = false
    private var fresh = Ring<WebPeer, Job>()
    private var busy = Ring<WebPeer, Job>()
    /// Who has had a job done in this window.
    private var served: Set<WebPeer> = []
    private var windowEnd = NIODeadline.now()
    private var running = 0
    private var started = 0

    private static let window = TimeAmount.milliseconds(5)
    /// So often the busy ones come first, even if there are others.
    private static let busyTurn = 4

    init(_ pool: NIOThreadPool, _ loop: any EventLoop, atOnce: Int = 1) {
        self.pool = pool
        self.loop = loop
        self.atOnce = atOnce
    }

    /// Runs `body` on the thread.
    func run<Result: Sendable>(
        for peer: WebPeer,
        _ body: @escaping @Sendable () throws -> Result
    ) -> EventLoopFuture<Result> {
        let promise = loop.makePromise(of: Result.self)
        let (pool, loop) = (pool, loop)
        let job = {
            let result = pool.runIfActive(eventLoop: loop, body)
            // First, so that the next job does not wait for what is done with this result.
            let done = result.map { _ in }.recover { _ in }
            result.cascade(to: promise)
            return done
        }
        if isServed(peer) { busy.append(job, of: peer) } else { fresh.append(job, of: peer) }
        startNext()
        return promise.futureResult
    }

    /// Whether it has had its turn in this window; if not, it has now.
    private func isServed(_ peer: WebPeer) -> Bool {
        let now = NIODeadline.now()
        if now >= windowEnd {
            served = []
            windowEnd = now + Self.window
        }
        return !served.insert(peer).inserted
    }

    private func startNext() {
        guard running == 0, !isBreathing else { return }
        while running < atOnce, let job = next() {
            running += 1
            started += 1
            job().assumeIsolated().whenComplete { _ in self.end() }
        }
    }

    private func end() {
        running -= 1
        guard running == 0 else { return }
        isBreathing = true
        loop.assumeIsolated().scheduleTask(in: Self.breath) {
            self.isBreathing = false
            self.startNext()
        }
    }

    private func next() -> Job? {
        if started % Self.busyTurn == 0, let job = busy.next() { return job }
        return fresh.next() ?? busy.next()
    }
}
