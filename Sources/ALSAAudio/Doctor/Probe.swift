internal import QuickConnect
internal import Threads

/// Looks at something that may never answer, on a thread that is made once.
///
/// While a look hangs no other is begun: whoever asks meanwhile is told at once that it hangs. So however often the
/// doctor is called, there is this one thread with the one that watches it.
struct Probe: Sendable {
    struct Failure: Error {
        var error: CommandError
        /// Whether nothing came back, neither good nor bad.
        var hangs = false
    }

    private let thread: WatchedThread

    /// How long a look may take, and how long it may wait for those before it.
    private static let limit = Duration.seconds(4)

    /// - Parameters:
    ///   - name: of the thread, as ``WatchedThread`` takes it.
    ///   - subject: what is looked at, such as `the sound system`.
    init(_ name: String, of subject: String, within limit: Duration = Self.limit) {
        thread = WatchedThread(name: name, subject: subject, deadline: limit)
    }

    /// - Parameter step: what `work` does, such as `opening the PCM default`.
    func look<Value: Sendable>(
        _ step: String,
        _ work: @escaping @Sendable () throws(StreamFailure) -> Value
    ) async throws(Failure) -> Value {
        let promise = Promise<Result<Value, Failure>>()
        let job = WatchedThread.Job(
            step: step,
            work: {
                if !promise.isSettled { promise.fulfil(Self.result(step, work)) }
            },
            giveUp: { promise.fulfil(.failure(Failure(error: $0, hangs: true))) }
        )
        do throws(CommandError) { try thread.run(job) } catch { throw Failure(error: error, hangs: true) }
        let result: Result<Value, Failure>
        do throws(CommandError) { result = try await promise.value() } catch { throw Failure(error: error) }
        return try result.get()
    }

    private static func result<Value>(
        _ step: String,
        _ work: () throws(StreamFailure) -> Value
    ) -> Result<Value, Failure> {
        do throws(StreamFailure) { return .success(try work()) } catch {
            return .failure(Failure(error: error.commandError(about: step)))
        }
    }
}
