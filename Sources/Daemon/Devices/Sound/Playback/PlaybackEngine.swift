internal import Concurrency
internal import JSON
internal import Logging
internal import QuickConnect
internal import Synchronization

/// Plays voices through one output, mixed, on one thread.
///
/// `play` puts a voice on a list and returns. If the thread is parked, it gets a job: open the PCM, play until every
/// voice has been heard, close the PCM. Voices added meanwhile join the open stream. An idle engine holds no PCM and no
/// timer. Calls that may block forever run on the ``WatchedThread``.
final class PlaybackEngine: Sendable {
    let output: ALSAOutput
    private let patience: Duration
    private let logger: Logger
    private let thread: WatchedThread
    private let list = Mutex(VoiceList())
    private let latestRate = Mutex(StreamWish.playback.rate)

    /// - Parameters:
    ///   - answer: how long the sound system may take for one step before the voices fail.
    ///   - patience: how long an open PCM may play nothing.
    ///   - threadName: as ``WatchedThread`` takes it.
    init(
        _ output: ALSAOutput,
        answer: Duration,
        patience: Duration,
        threadName: String = "qc-sound",
        logger: Logger
    ) {
        self.output = output
        self.patience = patience
        self.logger = logger
        thread = WatchedThread(name: threadName, subject: "the sound system", deadline: answer)
    }

    /// Starts a voice; never blocks. The promise is fulfilled when its last frame has been heard.
    func play(_ request: VoiceRequest) -> Promise<Void> {
        let promise = Promise<Void>()
        switch list.withLock({ $0.admit(request, promise) }) {
        case .refused(.closed): promise.fail(CommandError(.cancelled, "\(output) is being closed"))
        case .refused(.full): promise.fail(CommandError(.overloaded, "\(VoiceList.limit) sounds are playing already"))
        case .joined: break
        case .first: startSession()
        }
        return promise
    }

    /// Ends one voice at once, with `cancelled`.
    func end(_ promise: Promise<Void>) {
        list.withLock { $0.remove(promise) }
        promise.fail(CommandError(.cancelled, "the sound was stopped"))
    }

    /// The best rate for sound, in frames per second: that of the latest opening.
    var rate: Int { latestRate.withLock { $0 } }

    /// Whether it is playing, or about to.
    var isPlaying: Bool { list.withLock { $0.isScheduled } }

    /// The voices for `state`.
    var json: JSONValue { list.withLock { $0.json } }

    /// Ends the voices of those callers at once.
    func stop(mayEnd: (Caller) -> Bool) {
        let callers = list.withLock { $0.callers }.filter(mayEnd)
        let stopped = list.withLock { $0.remove(of: callers) }
        for promise in stopped { promise.fail(CommandError(.cancelled, "the sound was stopped")) }
    }

    /// Ends every voice with `cancelled`, closes the PCM and ends the threads. Returns when that is done, at the latest
    /// when a step exceeds the answer time.
    func close() async {
        let ended = list.withLock { list in
            list.isClosed = true
            return list.removeUnplayed(waiting: true)
        }
        for promise in ended { promise.fail(CommandError(.cancelled, "\(output) is being closed")) }
        await thread.end()
    }
}

extension PlaybackEngine {
    private func startSession() {
        let job = WatchedThread.Job(
            step: "opening \(output)",
            work: { self.runSession() },
            giveUp: { self.giveUp($0) }
        )
        do {
            try thread.run(job)
        } catch {
            // Not logged: the reason was logged when the thread stopped taking jobs.
            endSession(with: error)
        }
    }

    /// Runs on the watching thread, because the sound thread is blocked.
    private func giveUp(_ error: CommandError) {
        logger.error("\(error.message)")
        endSession(with: error)
    }

    private func endSession(with error: CommandError) {
        let (played, failed) = list.withLock { list in
            list.isScheduled = false
            return (list.removePlayed(), list.removeUnplayed(waiting: true))
        }
        for promise in played { promise.fulfil(()) }
        for promise in failed { promise.fail(error) }
    }
}

// The rest runs on the sound thread.
extension PlaybackEngine {
    /// Plays until the list is empty. After a failure, voices added meanwhile get a new opening of the PCM.
    private func runSession() {
        repeat { playAll() } while list.withLock { $0.hasMore() }
    }

    /// One opening of the PCM, for all voices that wait or join.
    private func playAll() {
        let first = list.withLock { $0.takeWaiting() }
        guard !first.isEmpty else { return }
        do throws(StreamFailure) {
            try proceed(to: "opening \(output)")
            var stream = try PlaybackStream(output, patience: patience, logger: logger)
            latestRate.withLock { $0 = stream.format.rate }
            do throws(StreamFailure) {
                try play(first, through: &stream)
                try proceed(to: "closing \(output)")
            } catch {
                // The voices get the error before the PCM is closed, which may block.
                fail(error)
            }
            stream.close()
        } catch {
            fail(error)
        }
        for promise in list.withLock({ $0.removePlayed() }) { promise.fulfil(()) }
    }

    private func play(
        _ first: [VoiceList.Taken],
        through stream: inout PlaybackStream
    ) throws(StreamFailure) {
        var mixer = Mixer(channels: stream.format.channels, rate: stream.format.rate)
        for voice in first { mixer.add(voice.id, voice.source) }
        while takeOver(&mixer, stream) {
            try proceed(to: "playing through \(output)")
            let isFirst = stream.written == 0
            try stream.advance(&mixer)
            if isFirst, stream.written > 0, let asked = first.first?.asked {
                logger.debug("\(output) took the first frames \(asked.duration(to: .now)) after the call")
            }
        }
    }

    private func proceed(to step: String) throws(StreamFailure) {
        guard thread.proceed(to: step) else { throw .givenUp }
    }

    /// Synchronizes the mixer and the list: new voices, stopped voices, and how much has been heard.
    /// - Returns: whether there is more to play. If not, the promises of the last voices are fulfilled after the PCM is
    ///   closed, because their waiters may then open it or read its file.
    private func takeOver(_ mixer: inout Mixer, _ stream: borrowing PlaybackStream) -> Bool {
        let finished = mixer.removeFinished(played: stream.played)
        let positions = mixer.positions(played: stream.played).mapValues(stream.format.seconds)
        let (wanted, joining, told) = list.withLock { list in
            list.setPlayed(finished)
            list.setPositions(positions)
            return (list.ids, list.takeWaiting(), list.told(positions))
        }
        for (heard, seconds) in told { heard(seconds) }
        mixer.keep { wanted.contains($0) }
        for voice in joining { mixer.add(voice.id, voice.source) }
        guard !mixer.isEmpty else { return false }
        for promise in list.withLock({ $0.removePlayed() }) { promise.fulfil(()) }
        return true
    }

    /// Fails the voices of this opening.
    private func fail(_ failure: StreamFailure) {
        let error = failure.commandError(about: "\(output)")
        let (played, failed) = list.withLock { ($0.removePlayed(), $0.removeUnplayed(waiting: false)) }
        // If a call returns too late, its failure was reported when it was given up.
        if thread.proceed(to: "closing \(output)") {
            logger.error("\(error.message)")
        } else {
            logger.notice("\(output) answers again")
        }
        for promise in played { promise.fulfil(()) }
        for promise in failed { promise.fail(error) }
    }
}
