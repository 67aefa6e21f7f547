internal import Concurrency
internal import Logging
internal import QuickConnect
internal import Synchronization

/// Captures from one input for as many recordings as want it, on one thread.
///
/// `add` puts a tap on a list and returns. If the thread is parked, it gets a job: open the PCM, capture until every
/// tap has ended, close the PCM. Taps added meanwhile join the open stream, in its format, because a card can be opened
/// only once. An idle engine holds no PCM and no timer. Calls that may block forever run on the ``WatchedThread``.
final class CaptureEngine: Sendable {
    private struct State {
        var taps: [CaptureTap] = []
        var isScheduled = false
        var isClosed = false
    }

    let input: ALSAInput
    private let patience: Duration
    private let logger: Logger
    private let thread: WatchedThread
    private let state = Mutex(State())

    /// - Parameters:
    ///   - answer: how long the sound system may take for one step before the taps fail.
    ///   - patience: how long an open PCM may capture nothing.
    ///   - threadName: as ``WatchedThread`` takes it.
    init(_ input: ALSAInput, answer: Duration, patience: Duration, threadName: String = "qc-mic", logger: Logger) {
        self.input = input
        self.patience = patience
        self.logger = logger
        thread = WatchedThread(name: threadName, subject: "the sound system", deadline: answer)
    }

    /// Gives a tap what is captured from now on, until the tap has ended. Never blocks.
    func add(_ tap: CaptureTap) {
        let isFirst = state.withLock { state -> Bool? in
            if state.isClosed { return nil }
            state.taps.append(tap)
            defer { state.isScheduled = true }
            return !state.isScheduled
        }
        guard let isFirst else { return tap.end(.failed(closing)) }
        if isFirst { startSession() }
    }

    /// Whether it is capturing, or about to.
    var isCapturing: Bool { state.withLock { $0.isScheduled } }

    /// Ends every tap and the threads. Returns when that is done, at the latest when a step exceeds the answer time.
    func close() async {
        let taps = state.withLock { state in
            state.isClosed = true
            return state.taps
        }
        for tap in taps { tap.end(.stopped) }
        await thread.end()
    }

    private var closing: CommandError { CommandError(.cancelled, "\(input) is being closed") }

    private func startSession() {
        let job = WatchedThread.Job(
            step: "opening \(input)",
            work: { self.runSession() },
            giveUp: { error in
                self.logger.error("\(error.message)")
                self.endSession(with: error)
            }
        )
        do { try thread.run(job) } catch { endSession(with: error) }
    }

    private func endSession(with error: CommandError) {
        let taps = state.withLock { state in
            state.isScheduled = false
            defer { state.taps = [] }
            return state.taps
        }
        for tap in taps { tap.end(.failed(error)) }
    }
}

// The rest runs on the capturing thread.
extension CaptureEngine {
    /// Captures until no tap is left. After a failure, taps added meanwhile get a new opening of the PCM.
    private func runSession() {
        repeat { captureAll() } while hasMore()
    }

    private func hasMore() -> Bool {
        state.withLock { state in
            state.taps.removeAll(where: \.hasEnded)
            state.isScheduled = !state.taps.isEmpty
            return state.isScheduled
        }
    }

    /// One opening of the PCM, in the format that the first tap requests.
    private func captureAll() {
        guard let wish = state.withLock({ $0.taps.first { !$0.hasEnded }?.wish }) else { return }
        var begun: [CaptureTap] = []
        do throws(StreamFailure) {
            try proceed(to: "opening \(input)")
            var stream = try CaptureStream(input, wish, patience: patience, logger: logger)
            do throws(StreamFailure) {
                while takeOver(&begun, stream.format) {
                    try proceed(to: "capturing from \(input)")
                    let samples = try stream.advance()
                    if !samples.isEmpty { for tap in begun { tap.append(samples) } }
                }
                try proceed(to: "closing \(input)")
            } catch {
                // The taps get the error before the PCM is closed, which may block.
                fail(error, begun)
            }
            stream.close()
        } catch {
            fail(error, state.withLock { $0.taps })
        }
    }

    private func proceed(to step: String) throws(StreamFailure) {
        guard thread.proceed(to: step) else { throw .givenUp }
    }

    /// Removes the taps that have ended, and starts the new ones.
    /// - Returns: whether there are any.
    private func takeOver(_ begun: inout [CaptureTap], _ format: StreamFormat) -> Bool {
        let taps = state.withLock { state in
            state.taps.removeAll(where: \.hasEnded)
            return state.taps
        }
        for tap in taps where !begun.contains(where: { $0 === tap }) { tap.begin(format) }
        begun = taps
        return !taps.isEmpty
    }

    private func fail(_ failure: StreamFailure, _ taps: [CaptureTap]) {
        let error = failure.commandError(about: "\(input)")
        // If a call returns too late, its failure was reported when it was given up.
        if thread.proceed(to: "closing \(input)") {
            logger.error("\(error.message)")
        } else {
            logger.notice("\(input) answers again")
        }
        for tap in taps { tap.end(.failed(error)) }
    }
}
