/// A thread for what a loop must not wait for: files, and long texts to parse. The loop asks it, is woken when there is a
/// result, and never becomes it.
///
/// The peers on whose behalf it works take turns. It starts with the first job, and ends with this object.
package final class SideThread<Value: Sendable>: Sendable {
    /// Runs on the thread.
    package typealias Job = @Sendable () -> Value

    private struct State: Sendable {
        /// What comes before the peers' jobs.
        var first: [Job] = []
        var jobs = Ring<String, Job>()
        var values: [Value] = []
        var isStarted = false
        var isOver = false

        mutating func next(_ mayRun: (String) -> Bool) -> Job? {
            first.isEmpty ? jobs.next(where: mayRun) : first.removeFirst()
        }
    }

    private let state = Monitor(State())
    private let name: String
    private let mayRun: @Sendable (String) -> Bool
    private let wake: @Sendable () -> Void
    private let startThread: StartThread
    typealias StartThread = @Sendable (_ name: String, _ body: @escaping @Sendable () -> Void) -> Int32

    /// - Parameters:
    ///   - name: shown by `top -H`.
    ///   - mayRun: whether a peer may have its turn now. After it has changed, ``goOn()`` must be called.
    ///   - wake: called on the thread when there is a result.
    package convenience init(
        _ name: String,
        mayRun: @escaping @Sendable (String) -> Bool = { _ in true },
        wake: @escaping @Sendable () -> Void
    ) {
        self.init(name, mayRun: mayRun, wake: wake, startThread: PThread.start)
    }

    /// - Parameter startThread: as ``PThread/start(_:_:)``.
    init(
        _ name: String,
        mayRun: @escaping @Sendable (String) -> Bool,
        wake: @escaping @Sendable () -> Void,
        startThread: @escaping StartThread
    ) {
        self.name = name
        self.mayRun = mayRun
        self.wake = wake
        self.startThread = startThread
    }

    deinit {
        state.withLock { $0.isOver = true }
        state.notify()
    }

    /// How many jobs wait.
    package var waitingCount: Int { state.withLock { $0.jobs.count + $0.first.count } }

    /// Asks for a job, after all others of that peer.
    package func run(for peer: String, _ job: @escaping Job) { add { $0.jobs.append(job, of: peer) } }

    /// Asks for a job of nobody's, before those of all peers, in the order in which such jobs came.
    package func runFirst(_ job: @escaping Job) { add { $0.first.append(job) } }

    private func add(_ append: (inout State) -> Void) {
        let isStarted = state.withLock { state in
            append(&state)
            return state.isStarted
        }
        if isStarted { state.notifyOne() } else { start() }
    }

    private func start() {
        let isFirst = state.withLock { state in
            defer { state.isStarted = true }
            return !state.isStarted
        }
        let (state, mayRun, wake) = (state, mayRun, wake)
        guard isFirst, startThread(name, { Self.work(state, mayRun, wake) }) != 0 else { return }
        // No thread can be started: late is better than never. Jobs may ask for jobs, and so does the next call.
        state.withLock { $0.isStarted = false }
        while let job = state.withLock({ $0.next(mayRun) }) { Self.work(job, state, wake) }
    }

    /// Peers may have their turns that might not before.
    package func goOn() {
        // Not between its look at the peers and its wait.
        let mustStart = state.withLock { !$0.isStarted && $0.jobs.count > 0 }
        if mustStart { start() } else { state.notify() }
    }

    /// The results since the last time. Those of one peer are in the order of its jobs.
    package func takeValues() -> [Value] {
        state.withLock { state in
            guard !state.values.isEmpty else { return [] }
            defer { state.values = [] }
            return state.values
        }
    }

    private static func work(
        _ state: Monitor<State>,
        _ mayRun: @Sendable (String) -> Bool,
        _ wake: @Sendable () -> Void
    ) {
        while let job = next(state, mayRun) { work(job, state, wake) }
    }

    private static func work(_ job: Job, _ state: Monitor<State>, _ wake: @Sendable () -> Void) {
        let value = job()
        // Nobody takes what is nothing.
        if Value.self != Void.self { state.withLock { $0.values.append(value) } }
        wake()
    }

    /// The next job; nil where there will be none.
    private static func next(_ state: Monitor<State>, _ mayRun: (String) -> Bool) -> Job? {
        state.wait { state in
            if state.isOver { return .go(nil) }
            return state.next(mayRun).map { .go($0) } ?? .wait(until: nil)
        }
    }
}
