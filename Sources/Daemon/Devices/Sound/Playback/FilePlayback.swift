import Concurrency
internal import JSON
internal import MediaFolder
internal import QuickConnect
internal import Synchronization

/// A file that is playing or paused, from the call that started it to its end.
///
/// A pause ends its voice in the mixer, so that no frames are lost or repeated and the PCM can be closed. When it is
/// resumed, the file's stream becomes a new voice.
final class FilePlayback: Sendable {
    enum Phase {
        /// It is being opened; `isHeld` if it must be paused as soon as it is open.
        case opening(isHeld: Bool)
        case playing
        /// It will be paused as soon as what was mixed has been heard.
        case pausing
        case paused
        case over
    }

    struct State {
        var phase = Phase.opening(isHeld: false)
        var stream: FileStream?
        var duration: Double?
        /// The voice in the mixer, if there is one.
        var voice: Promise<Void>?
        /// Seconds that were heard in earlier voices.
        var before = 0.0
        /// Seconds heard in this one.
        var heard = 0.0
        /// Promises that wait until it plays: of the call that started or resumed it.
        var starting: [Promise<Void>] = []
        var pausing: [Promise<Void>] = []
        /// Promises that wait for its end.
        var ending: [Promise<Void>] = []
        /// Why only a part of it could be read.
        var damage: CommandError?
        /// When its progress was last published.
        var told = SuspendingClock.now
    }

    let name: MediaName
    let caller: Caller
    /// In the order they were started.
    let number: UInt64
    let options: PlayOptions
    private let engine: PlaybackEngine
    let player: ALSAFilePlayer
    let state: Mutex<State>

    private static let numbers = Atomic<UInt64>(0)

    /// Frames that are read at a time.
    private static let chunk = 4096
    /// Frames that are read before its voice begins: more than the PCM takes at once, so that it does not begin with a
    /// gap.
    private static let ahead = 3 * chunk
    /// The shortest time between two progress events.
    private static let tellingInterval = Duration.milliseconds(100)

    init(
        _ name: MediaName,
        _ options: PlayOptions,
        _ caller: Caller,
        _ engine: PlaybackEngine,
        _ answer: Promise<Void>,
        _ player: ALSAFilePlayer
    ) {
        self.name = name
        self.options = options
        self.caller = caller
        self.engine = engine
        self.player = player
        number = Self.numbers.add(1, ordering: .relaxed).newValue
        state = Mutex(options.waits ? State(ending: [answer]) : State(starting: [answer]))
    }
}

// These functions run on the thread that reads the file.
extension FilePlayback {
    /// Reads the file to its end, or until it is no longer wanted.
    func run(_ folder: MediaFolder) {
        do throws(CommandError) {
            let decoder = try open(folder)
            var source: any VoiceSource = decoder
            if decoder.rate != engine.rate { source = ResampledSource(decoder, to: engine.rate) }
            let stream = FileStream(channels: source.channels, rate: source.rate, gain: Float(options.volume / 100))
            var chunk = [Float](repeating: 0, count: Self.chunk * source.channels)
            var (frames, hasBegun) = (0, false)
            while !source.isAtEnd {
                let count = source.read(Self.chunk, into: &chunk)
                guard stream.append(chunk[..<(count * source.channels)]) else { return }
                frames += count
                guard !hasBegun, frames >= Self.ahead else { continue }
                guard begin(stream, duration: decoder.duration) else { return }
                hasBegun = true
            }
            if let failure = decoder.failure {
                noteDamage(failure)
            } else if frames == 0 {
                throw CommandError(.unavailable, "'\(name)' cannot be played: there is no sound in it")
            }
            stream.complete()
            if !hasBegun { _ = begin(stream, duration: decoder.duration) }
        } catch {
            fail(error)
        }
    }

    private func open(_ folder: MediaFolder) throws(CommandError) -> FileDecoder {
        let file = try folder.open(name)
        let decoder: FileDecoder
        do throws(SoundFile.Failure) { decoder = try FileDecoder(file, loops: options.loops) } catch {
            throw CommandError(.unavailable, "'\(name)' cannot be played: \(error.reason)")
        }
        guard options.from > 0 else { return decoder }
        if let duration = decoder.duration, options.from >= duration {
            let expected = "from, a number of seconds below the file's \(duration.inMilliseconds)"
            throw .invalid("/3/from", expected: expected, got: JSONValue.number(options.from).gist)
        }
        guard decoder.seek(to: options.from) else {
            throw CommandError(.unsupported, "'\(name)' can only be played from its beginning")
        }
        return decoder
    }

    /// - Returns: whether it is still wanted.
    private func begin(_ stream: FileStream, duration: Double?) -> Bool {
        let isHeld = state.withLock { state -> Bool? in
            guard case .opening(let isHeld) = state.phase else { return nil }
            state.stream = stream
            state.duration = duration
            state.phase = isHeld ? .pausing : .playing
            return isHeld
        }
        guard let isHeld else { return false }
        if !isHeld || !becomePaused() { addVoice(stream) }
        return true
    }

    /// What could be read is played first.
    private func noteDamage(_ failure: SoundFile.Failure) {
        let error = CommandError(.unavailable, "'\(name)' is damaged: \(failure.reason)")
        state.withLock { $0.damage = error }
    }
}

// Requests of callers.
extension FilePlayback {
    func stop(_ promise: Promise<Void>) {
        let voice = state.withLock { $0.voice }
        finish(.stopped)
        if let voice { engine.end(voice) }
        promise.fulfil(())
    }

    func pause(_ promise: Promise<Void>) {
        let answer = state.withLock { state -> CommandError?? in
            switch state.phase {
            case .paused: return .some(nil)
            case .over: return .some(hasEnded)
            case .opening: state.phase = .opening(isHeld: true)
            case .playing, .pausing:
                state.phase = .pausing
                state.stream?.hold(true)
            }
            state.pausing.append(promise)
            return nil
        }
        if let answer { promise.settle(answer.map { .failure($0) } ?? .success(())) }
    }

    func resume(_ promise: Promise<Void>) {
        var stream: FileStream?
        var overtaken: [Promise<Void>] = []
        let answer = state.withLock { state -> CommandError?? in
            switch state.phase {
            case .over: return .some(hasEnded)
            case .playing: return .some(nil)
            case .opening: state.phase = .opening(isHeld: false)
            case .pausing:
                // Its voice may have ended by now; then it gets a new one.
                state.stream?.hold(false)
                state.phase = .playing
            case .paused:
                stream = state.stream
                stream?.hold(false)
                state.phase = .playing
            }
            swap(&overtaken, &state.pausing)
            state.starting.append(promise)
            return nil
        }
        for promise in overtaken { promise.fulfil(()) }
        if let answer { promise.settle(answer.map { .failure($0) } ?? .success(())) }
        if let stream { addVoice(stream) }
    }

    /// False if it has ended, or has not begun and its caller no longer waits.
    var isWanted: Bool {
        state.withLock { state in
            switch state.phase {
            case .over: false
            case .opening: (state.starting + state.pausing + state.ending).contains { !$0.isSettled }
            case .playing, .pausing, .paused: true
            }
        }
    }

    var hasEnded: CommandError { CommandError(.notFound, "'\(name)' has just ended") }

    func fail(_ error: CommandError) { finish(.failed(error)) }
}

// The voice in the mixer.
extension FilePlayback {
    private func addVoice(_ stream: FileStream) {
        let request = VoiceRequest(
            source: stream,
            description: nil,
            seconds: 0,
            caller: caller,
            heard: { [weak self] in self?.heard($0) }
        )
        let isOver = state.withLock { state in
            (state.before, state.heard) = (stream.given, 0)
            if case .over = state.phase { return true }
            return false
        }
        if isOver { return }
        let voice = engine.play(request)
        let isWanted = state.withLock { state in
            if case .over = state.phase { return false }
            state.voice = voice
            return true
        }
        voice.whenSettled { self.voiceEnded($0) }
        if !isWanted { engine.end(voice) }
    }

    /// Called on the sound thread.
    private func heard(_ seconds: Double) {
        let (waiters, isTelling) = state.withLock { state -> ([Promise<Void>], Bool) in
            state.heard = seconds
            guard seconds > 0 else { return ([], false) }
            defer { state.starting = [] }
            let now = SuspendingClock.now
            guard state.starting.isEmpty, state.told.duration(to: now) >= Self.tellingInterval else {
                return (state.starting, false)
            }
            state.told = now
            return ([], true)
        }
        if !waiters.isEmpty { report("playing") } else if isTelling { report("playing", kind: .sensor) }
        for promise in waiters { promise.fulfil(()) }
    }

    private func voiceEnded(_ result: Result<Void, CommandError>) {
        if case .failure(let error) = result { return finish(error.code == .cancelled ? .stopped : .failed(error)) }
        let stream = state.withLock { state -> FileStream? in
            state.voice = nil
            guard let stream = state.stream else { return nil }
            (state.before, state.heard) = (stream.given, 0)
            return stream
        }
        guard let stream else { return }
        if stream.isDrained { return finish(state.withLock { $0.damage }.map { .failed($0) } ?? .ended) }
        if !becomePaused() { addVoice(stream) }
    }

    /// - Returns: whether it is paused; if not, it was resumed at the last moment.
    private func becomePaused() -> Bool {
        let (starting, pausing, isPaused) = state.withLock { state -> ([Promise<Void>], [Promise<Void>], Bool) in
            guard case .pausing = state.phase else { return ([], [], false) }
            state.phase = .paused
            defer { (state.starting, state.pausing) = ([], []) }
            return (state.starting, state.pausing, true)
        }
        if isPaused { report("paused") }
        for promise in starting + pausing { promise.fulfil(()) }
        return isPaused
    }
}
