import Concurrency
internal import JSON
internal import MediaFolder
internal import QuickConnect
internal import Synchronization

/// One recording, from the call that started it until its file is complete.
final class RecordingJob: Sendable {
    private struct State {
        var frames = 0
        /// The loudest sample so far, 0 to 32768.
        var peak = 0
        /// The same since the last event.
        var recentPeak = 0
        var told = SuspendingClock.now
        var hasBegun = false
        /// Whether it has stopped recording and its file is being closed.
        var isEnding = false
        /// Its result, once it is over.
        var result: Result<Recording, CommandError>?
        /// The promises that wait for its end.
        var stopping: [Promise<Recording>] = []
        var closing: [@Sendable () -> Void] = []
        /// Whether somebody asked for its end, or waits for it.
        var isAwaited = false
    }

    private let rights: FileRights
    /// In the order they were started.
    let number: UInt64
    private let plan: RecordingPlan
    private let recorder: ALSARecorder
    private let tap: CaptureTap
    private let started: Promise<Void>
    private let state = Mutex(State())

    var name: MediaName { plan.name }
    var caller: Caller { rights.caller }

    private static let numbers = Atomic<UInt64>(0)
    /// The shortest time between two events with the level.
    private static let levelInterval = Duration.milliseconds(100)
    /// How often the written data is synced to the disk and the free space checked. A power loss costs at most this
    /// much.
    private static let syncInterval = Duration.milliseconds(500)

    /// - Parameters:
    ///   - started: fulfilled when it runs.
    ///   - ended: settled when it is over; nil: nobody waits for that.
    init(
        _ plan: RecordingPlan,
        _ rights: FileRights,
        started: Promise<Void>,
        ended: Promise<Recording>?,
        _ recorder: ALSARecorder
    ) {
        self.plan = plan
        self.rights = rights
        self.started = started
        self.recorder = recorder
        tap = CaptureTap(rate: plan.options.rate, channels: plan.options.channels)
        number = Self.numbers.add(1, ordering: .relaxed).newValue
        guard let ended else { return }
        state.withLock { ($0.stopping, $0.isAwaited) = ([ended], true) }
    }

    /// - Throws: `denied` if another user started it.
    func check(_ mayEnd: (Caller) -> Bool) throws(CommandError) {
        guard mayEnd(caller) else {
            throw CommandError(.denied, "the recording '\(name)' was started by \(caller), another user")
        }
    }

    /// Ends it; the promise is settled when the file is complete.
    /// - Returns: false if it was already over.
    func stop(_ promise: Promise<Recording>?) -> Bool {
        let result = state.withLock { state -> Result<Recording, CommandError>? in
            if let result = state.result { return result }
            (state.isAwaited, state.isEnding) = (true, true)
            if let promise { state.stopping.append(promise) }
            return nil
        }
        tap.end(.stopped)
        if let result { promise?.settle(result) }
        return result == nil
    }

    /// Runs `body` at once if its file is not being closed, otherwise when it has been closed.
    func whenClosed(_ body: @escaping @Sendable () -> Void) {
        let isClosing = state.withLock { state in
            guard state.isEnding, state.result == nil else { return false }
            state.closing.append(body)
            return true
        }
        if !isClosing { body() }
    }
}

// These functions run on its own thread.
extension RecordingJob {
    func run() {
        do throws(CommandError) {
            try recorder.folder.make()
            if let problem = freeSpaceProblem { throw problem }
            let file = try recorder.owners.begin(name, .recording, for: rights, isShared: plan.options.isShared)
            do throws(CommandError) {
                finish(.success(try record(into: file)))
            } catch {
                // Captured sound is not discarded: the next start recovers it.
                if state.withLock({ $0.frames == 0 }) { file.discard() } else { file.leave() }
                throw error
            }
        } catch {
            tap.end(.stopped)
            finish(.failure(error))
        }
    }

    private func record(into file: OwnedFile) throws(CommandError) -> Recording {
        let unfinished = file.unfinished
        let (rate, channels) = (plan.options.rate, plan.options.channels)
        let writer: SoundFileWriter
        do throws(SoundFile.Failure) {
            writer = try SoundFileWriter(unfinished.file, plan.format, rate: rate, channels: channels)
        } catch {
            throw CommandError(.unavailable, "'\(name)' cannot be written: \(error.reason)")
        }
        recorder.engine.add(tap)
        // Done while the PCM is being opened, because the disk takes time, too.
        file.announce()
        guard let format = try tap.format() else {
            throw CommandError(.cancelled, "the recording '\(name)' was stopped before it began")
        }
        state.withLock { $0.hasBegun = true }
        report("recording")
        started.fulfil(())
        var source: any VoiceSource = TapSource(tap, format, channels: channels)
        if source.rate != rate { source = ResampledSource(source, to: rate) }
        let ending = write(&source, writer, file)
        state.withLock { $0.isEnding = true }
        tap.end(.stopped)
        do throws(SoundFile.Failure) { try writer.close() } catch {
            // On a full disk, what could be written is kept.
            if ending == nil { throw CommandError(.unavailable, "'\(name)' cannot be written: \(error.reason)") }
        }
        try file.publish()
        return result(unfinished.file.bytes, ending)
    }

    /// Writes the captured sound until the end.
    /// - Returns: why it ended by itself; nil if it was stopped.
    private func write(
        _ source: inout any VoiceSource,
        _ writer: SoundFileWriter,
        _ file: OwnedFile
    ) -> Recording.Ending? {
        let chunk = max(1, plan.options.rate / 20)
        var samples = [Float](repeating: 0, count: chunk * plan.options.channels)
        var frames = 0
        var synced = SuspendingClock.now
        while frames < plan.maxFrames {
            let count = source.read(min(chunk, plan.maxFrames - frames), into: &samples)
            guard count > 0 else { return tap.failure.map { .failure($0) } }
            do throws(SoundFile.Failure) { try write(count, of: samples, writer) } catch {
                return .failure(
                    freeSpaceProblem ?? CommandError(.unavailable, "'\(name)' cannot be written: \(error.reason)")
                )
            }
            frames += count
            guard synced.duration(to: .now) >= Self.syncInterval else { continue }
            synced = .now
            do throws(CommandError) {
                try file.unfinished.sync()
                try file.grow(to: file.unfinished.file.bytes)
            } catch {
                return .failure(error)
            }
            if let problem = freeSpaceProblem { return .failure(problem) }
        }
        return .limit
    }

    private func write(_ frames: Int, of samples: [Float], _ writer: SoundFileWriter) throws(SoundFile.Failure) {
        let kept = samples[..<(frames * plan.options.channels)].map { sample in
            Int16(max(-32768, min(32767, (sample * plan.factor * 32768).rounded())))
        }
        try writer.write(kept)
        let peak = kept.lazy.map { abs(Int($0)) }.max() ?? 0
        let isTelling = state.withLock { state in
            state.frames += frames
            state.peak = max(state.peak, peak)
            state.recentPeak = max(state.recentPeak, peak)
            return state.told.duration(to: .now) >= Self.levelInterval
        }
        if isTelling { report("recording", kind: .sensor) }
    }

    private var freeSpaceProblem: CommandError? { recorder.settings.diskReserve.problem(in: recorder.folder) }
}

// The end of a recording, and its events.
extension RecordingJob {
    private func result(_ bytes: Int, _ ending: Recording.Ending?) -> Recording {
        let (frames, peak) = state.withLock { ($0.frames, $0.peak) }
        return Recording(
            file: name.text,
            path: "\(recorder.folder.path)/\(name)",
            seconds: seconds(frames),
            bytes: bytes,
            format: plan.format.rawValue,
            rate: plan.options.rate,
            channels: plan.options.channels,
            peak: Self.level(peak),
            ending: ending
        )
    }

    func finish(_ result: Result<Recording, CommandError>) {
        let last = state.withLock { state in
            state.result = result
            defer { (state.stopping, state.closing) = ([], []) }
            return state
        }
        // If it never began, only the call that started it gets the error.
        var failure = CommandError(.cancelled, "the recording '\(name)' was stopped before it began")
        if case .failure(let error) = result { failure = error }
        // Before the callers get their replies, because they may start it again at once.
        recorder.remove(self, result, isAwaited: last.isAwaited || !last.hasBegun)
        if last.hasBegun { report(result) } else { started.fail(failure) }
        for promise in last.stopping { promise.settle(result) }
        for closed in last.closing { closed() }
    }

    private func report(_ result: Result<Recording, CommandError>) {
        switch result {
        case .success(let recording):
            switch recording.ending {
            case nil: report("stopped")
            case .limit: report("ended")
            case .failure(let error): report("failed", failure: error)
            }
        case .failure(let error): report("failed", failure: error)
        }
    }

    private func report(_ change: String, kind: Event.Kind = .message, failure: CommandError? = nil) {
        let (frames, peak) = state.withLock { state in
            defer { (state.recentPeak, state.told) = (0, .now) }
            return (state.frames, state.recentPeak)
        }
        recorder.events.publish(
            {
                var value: JSONObject = ["file": .string(name.text), "state": .string(change)]
                value["seconds"] = .number(seconds(frames))
                value["peak"] = .number(Self.level(peak))
                if let failure {
                    value["code"] = .string(failure.code.rawValue)
                    value["message"] = .string(failure.message)
                }
                return .object(value)
            }(),
            kind: kind
        )
    }

    /// For `state`.
    var json: JSONValue {
        let (frames, peak) = state.withLock { ($0.frames, $0.peak) }
        return [
            "file": .string(name.text), "seconds": .number(seconds(frames)), "peak": .number(Self.level(peak)),
            "rate": .integer(Int64(plan.options.rate)), "channels": .integer(Int64(plan.options.channels)),
            "for": caller.json,
        ]
    }

    /// Seconds that were lost because the disk was too slow.
    var lostSeconds: Double { tap.lostSeconds }

    private func seconds(_ frames: Int) -> Double { (Double(frames) / Double(plan.options.rate)).inMilliseconds }

    /// 0 to 1, in steps that 16 bits can tell apart.
    private static func level(_ peak: Int) -> Double { (Double(peak) / 32768 * 100_000).rounded() / 100_000 }
}
