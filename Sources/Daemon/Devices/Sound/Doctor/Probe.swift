internal import Concurrency
internal import QuickConnect
internal import Synchronization

/// Why a check failed.
struct ProbeFailure: Error {
    var error: CommandError
    /// Whether it did not return at all.
    var hangs = false
}

/// Checks something that may never answer, on a thread of its own, and never on two at once: callers during a check
/// share its result, and while it hangs they get a failure at once.
///
/// Unlike with a ``WatchedThread``, a call that never returns is no reason to restart the daemon: only the doctor needs
/// the result.
final class Probe<Value: Sendable>: Sendable {
    private typealias Answer = Result<Value, ProbeFailure>

    private struct State {
        /// When the running check began.
        var since: ContinuousClock.Instant?
        var waiting: [Promise<Answer>] = []
    }

    private let name: String
    private let step: String
    private let limit: Duration
    private let work: @Sendable () throws(CommandError) -> Value
    private let state = Mutex(State())

    /// - Parameters:
    ///   - name: the name of the thread.
    ///   - step: what `work` does, such as `opening the PCM default`.
    ///   - limit: how long that may take.
    init(
        _ name: String,
        _ step: String,
        within limit: Duration = .seconds(4),
        _ work: @escaping @Sendable () throws(CommandError) -> Value
    ) {
        self.name = name
        self.step = step
        self.limit = limit
        self.work = work
    }

    func look() async throws(ProbeFailure) -> Value {
        let promise = Promise<Answer>()
        let now = ContinuousClock.now
        let since = state.withLock { state in
            let since = state.since
            if since.map({ now < $0 + limit }) ?? true { state.waiting.append(promise) }
            state.since = since ?? now
            return since
        }
        if since == nil { begin() } else if let since, now >= since + limit { throw hanging(since) }
        let answer: Answer
        do throws(CommandError) { answer = try await promise.value(before: (since ?? now) + limit) } catch {
            throw error.code == .timeout ? hanging(since ?? now) : ProbeFailure(error: error)
        }
        return try answer.get()
    }

    private func begin() {
        let code = PThread.start(name) { self.settle(self.answer) }
        guard code != 0 else { return }
        settle(.failure(ProbeFailure(error: CommandError(.unavailable, "no thread could be started (\(code))"))))
    }

    private var answer: Answer {
        do throws(CommandError) { return .success(try work()) } catch { return .failure(ProbeFailure(error: error)) }
    }

    private func settle(_ answer: Answer) {
        let waiting = state.withLock { state in
            defer { state = State() }
            return state.waiting
        }
        for promise in waiting { promise.fulfil(answer) }
    }

    private func hanging(_ since: ContinuousClock.Instant) -> ProbeFailure {
        let seconds = Int((since.duration(to: .now) / .seconds(1)).rounded())
        return ProbeFailure(error: CommandError(.timeout, "\(step) has not come back for \(seconds) s"), hangs: true)
    }
}
