internal import Concurrency
internal import Glibc
internal import JSON
internal import Linux
internal import QuickConnect

/// Ends this process where a statement does not end in its time: SQLite looks at no clock within a function. The host is
/// told why before, and starts another process.
final class SQLWatch: Sendable {
    private struct State: Sendable {
        var end: SuspendingClock.Instant?
        var message = ""
        var isStarted = false
    }

    private let state = Monitor(State())
    private let channel: Int32
    /// The extra time in which SQLite can end the statement itself.
    private static let grace = Duration.milliseconds(500)

    /// - Parameter channel: the socket to the host.
    init(channel: Int32) { self.channel = channel }

    /// Runs a statement that has so much time.
    func limit<Value, Failure: Error>(
        _ time: Duration,
        of procedure: String,
        _ body: () throws(Failure) -> Value
    ) throws(Failure) -> Value {
        let isStarted = state.withLock { state in
            state.end = .now + time + Self.grace
            state.message = "\(procedure): a statement took longer than \(time) (sqlTime)"
            defer { state.isStarted = true }
            return state.isStarted
        }
        defer { state.withLock { $0.end = nil } }
        if isStarted { state.notify() } else { start() }
        return try body()
    }

    private func start() {
        let (state, channel) = (state, channel)
        let code = PThread.start("sql-time") {
            Self.endLate(state, channel)
        }
        // The next statement tries again.
        if code != 0 { state.withLock { $0.isStarted = false } }
    }

    /// Waits for a statement that is late, says so, and ends this process.
    private static func endLate(_ state: Monitor<State>, _ channel: Int32) -> Never {
        state.wait { state -> Monitor<State>.Verdict<Never> in
            guard let end = state.end else { return .wait(until: nil) }
            if end > .now { return .wait(until: end) }
            let error = ProcedureError(.timeout, state.message)
            let line = "\(ProcedureWorker.lastAnswer)\"error\":\(JSONValue.object(error.json).text)}\n"
            // Here, where the state is locked: a statement that ends now must not have another answer given.
            Descriptor.write(line, to: channel)
            _exit(0)
        }
    }
}
