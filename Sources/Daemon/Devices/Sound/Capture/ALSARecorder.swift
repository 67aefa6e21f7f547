internal import Concurrency
package import JSON
package import Logging
package import MediaFolder
package import QuickConnect
internal import Synchronization

/// Records from ALSA into files of the media folder.
///
/// One thread captures, and each recording has a thread that writes, so a slow disk does not cause gaps at once. The
/// PCM is open only while something is recorded; several recordings at once share it.
package final class ALSARecorder: Recorder {
    /// The settings that the owner of the device may change.
    package struct Settings: Sendable {
        /// The longest duration, in seconds, of a recording that sets none.
        package var limit: Double
        /// Bytes that stay free on the disk: with less, no recording starts or continues. Nil: 64 MiB, or a twentieth
        /// of a small disk.
        package var reserve: Int?

        package init(limit: Double = 600, reserve: Int? = nil) {
            self.limit = limit
            self.reserve = reserve
        }

        package var diskReserve: DiskReserve { DiskReserve(bytes: reserve) }
    }

    /// A recording that ended by itself, without its job, which may hold sound.
    private struct Ended {
        var number: UInt64
        var name: MediaName
        var caller: Caller
        var result: Result<Recording, CommandError>
    }

    private struct State {
        var active: [MediaName: RecordingJob] = [:]
        /// Those whose result nobody has fetched, oldest first.
        var ended: [Ended] = []
    }

    let folder: MediaFolder
    let owners: MediaOwners
    let engine: CaptureEngine
    let settings: Settings
    private let logger: Logger
    private let jobs = Mutex(State())

    /// The event `recState`: `{"file", "state": "recording"|"stopped"|"ended"|"failed", "seconds", "peak"}`, where
    /// `peak` is the loudest sample (0 to 1) since the event before; with `ended` and `failed` also `code` and
    /// `message`. Sent at each change, and at most ten times a second while it records.
    package let events = DeviceEvent("recState")

    /// How many recordings may run at the same time.
    package static let limit = 16
    /// How many results of recordings that ended by themselves are kept to be fetched.
    private static let kept = 16

    /// - Parameters:
    ///   - input: the input, opened with the first recording.
    ///   - answer: how long the sound system may take for one step, such as opening the PCM.
    ///   - patience: how long an open PCM may capture nothing.
    ///   - owners: stores the owners of files; nil: they are not stored.
    ///   - logger: gets a line for each recording that ended abnormally.
    package convenience init(
        input: ALSAInput,
        folder: MediaFolder,
        settings: Settings = Settings(),
        answer: Duration = .seconds(3),
        patience: Duration = .seconds(3),
        owners: MediaOwners? = nil,
        logger: Logger
    ) {
        let engine = CaptureEngine(input, answer: answer, patience: patience, logger: logger)
        self.init(engine: engine, folder: folder, owners: owners, settings: settings, logger: logger)
    }

    init(
        engine: CaptureEngine,
        folder: MediaFolder,
        owners: MediaOwners? = nil,
        settings: Settings,
        logger: Logger
    ) {
        self.engine = engine
        self.folder = folder
        self.owners = owners ?? MediaOwners(folder, index: nil, logger: logger)
        self.settings = settings
        self.logger = logger
    }

    package func start(_ file: String, _ options: RecordingOptions, for rights: FileRights) -> Promise<Void> {
        .attempt { promise throws(CommandError) in try begin(file, options, rights, started: promise, ended: nil) }
    }

    package func record(_ file: String, _ options: RecordingOptions, for rights: FileRights) -> Promise<Recording> {
        .attempt { promise throws(CommandError) in try begin(file, options, rights, started: Promise(), ended: promise)
        }
    }

    private func begin(
        _ file: String,
        _ options: RecordingOptions,
        _ rights: FileRights,
        started: Promise<Void>,
        ended: Promise<Recording>?
    ) throws(CommandError) {
        let plan = try RecordingPlan(file, options, settings)
        let job = RecordingJob(plan, rights, started: started, ended: ended, self)
        try admit(job)
        let code = PThread.start("qc-record") { job.run() }
        if code != 0 { job.finish(.failure(CommandError(.unavailable, "no thread could be started (\(code))"))) }
    }

    private func admit(_ job: RecordingJob) throws(CommandError) {
        try jobs.withLock { state throws(CommandError) in
            guard state.active[job.name] == nil else {
                throw CommandError(.busy, "'\(job.name)' is being recorded already; stop it first")
            }
            guard state.active.count < Self.limit else {
                throw CommandError(.overloaded, "\(Self.limit) recordings are being made already")
            }
            state.active[job.name] = job
            state.ended.removeAll { $0.name == job.name }
        }
    }

    package func stop(_ file: String, mayEnd: @escaping @Sendable (Caller) -> Bool) -> Promise<Recording> {
        .attempt { promise throws(CommandError) in
            let name = try MediaName(file)
            if let job = jobs.withLock({ $0.active[name] }) {
                try job.check(mayEnd)
                // If it ended by itself just now, the promise gets its result.
                if !job.stop(promise) { _ = takeEnded(job.number) }
            } else {
                promise.settle(try takeEnded(name, mayEnd))
            }
        }
    }

    /// The result of a recording that ended by itself. The permission check runs without a lock.
    private func takeEnded(
        _ name: MediaName,
        _ mayEnd: (Caller) -> Bool
    ) throws(CommandError) -> Result<Recording, CommandError> {
        let ended = jobs.withLock { $0.ended }.first { $0.name == name && mayEnd($0.caller) }
        guard let ended, let result = takeEnded(ended.number) else {
            throw CommandError(.notFound, "'\(name)' is not being recorded")
        }
        return result
    }

    private func takeEnded(_ number: UInt64) -> Result<Recording, CommandError>? {
        jobs.withLock { state in
            state.ended.firstIndex { $0.number == number }.map { state.ended.remove(at: $0).result }
        }
    }

    /// `"recording"`: `{"file", "seconds", "peak", "rate", "channels", "for"}` for each one.
    package func state() -> JSONObject {
        let active = jobs.withLock { $0.active.values.sorted { $0.number < $1.number } }
        return ["recording": .array(active.map(\.json))]
    }

    package func stop(mayEnd: @Sendable (Caller) -> Bool) {
        let active = jobs.withLock { Array($0.active.values) }
        for job in active where mayEnd(job.caller) { _ = job.stop(nil) }
    }

    /// Ends all recordings, and returns when their files are complete.
    /// - Parameter limit: how long that may take; files that are not complete then are recovered at the next start.
    package func close(within limit: Duration = .seconds(3)) async {
        let files = jobs.withLock { Array($0.active.values) }.map { job in
            let promise = Promise<Recording>()
            _ = job.stop(promise)
            return promise
        }
        let end = ContinuousClock.now + limit
        for file in files { _ = try? await file.value(before: end) }
        await engine.close()
    }

    /// Repairs the files of recordings that a crash or a kill cut off, and gives them the requested names. Called once,
    /// before the first recording.
    /// - Parameter limit: how long to wait; the recovery continues after that.
    package func recover(within limit: Duration = .seconds(5)) async {
        let promise = Promise<Void>()
        let recovery = RecordingRecovery(folder: folder, owners: owners, logger: logger)
        let code = PThread.start("qc-recover") {
            recovery.run()
            promise.fulfil(())
        }
        if code != 0 { logger.warning("no thread could be started to recover recordings (\(code))") }
        _ = try? await promise.value(before: code == 0 ? .now + limit : .now)
    }

    /// Whether a file is being recorded.
    func isRecording(_ name: MediaName) -> Bool { jobs.withLock { $0.active[name] != nil } }

    /// A recording has ended.
    /// - Parameter isAwaited: whether somebody waits for the result.
    func remove(_ job: RecordingJob, _ result: Result<Recording, CommandError>, isAwaited: Bool) {
        jobs.withLock { state in
            if state.active[job.name] === job { state.active[job.name] = nil }
            if !isAwaited {
                state.ended.append(Ended(number: job.number, name: job.name, caller: job.caller, result: result))
                if state.ended.count > Self.kept { state.ended.removeFirst() }
            }
        }
        if job.lostSeconds > 0 {
            let lost = job.lostSeconds.inMilliseconds
            logger.warning("the recording '\(job.name)' lacks \(lost) s: the disk was too slow for too long")
        }
        switch result {
        case .success(let recording):
            guard let ending = recording.ending else { return }
            logger.notice("the recording '\(job.name)' ended by itself at \(recording.seconds) s: \(ending)")
        // The caller is told; these errors would only fill the log.
        case .failure(let error) where ![.cancelled, .denied, .tooLarge].contains(error.code):
            logger.warning("the recording '\(job.name)' failed: \(error.message)")
        case .failure: break
        }
    }
}

extension ALSARecorder: MediaWriter {
    package func whenClosed(_ name: MediaName, _ body: @escaping @Sendable () -> Void) {
        guard let job = jobs.withLock({ $0.active[name] }) else { return body() }
        job.whenClosed(body)
    }
}
