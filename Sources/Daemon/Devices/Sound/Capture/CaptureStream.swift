internal import Glibc
internal import Logging

/// A PCM that captures, for as long as it is advanced.
struct CaptureStream: ~Copyable {
    private let pcm: PCM
    let format: StreamFormat
    private let tone: Tone?
    private var progress: ProgressWatch
    private var recovery: StreamRecovery
    private var pace: CapturePace
    private var bytes: [UInt8]
    /// Frames captured so far.
    private(set) var captured = 0
    /// Whether the last wait timed out without frames.
    private var waitedInVain = false

    /// The longest wait in milliseconds. It limits how late the end of all taps is noticed.
    private static let maxWait: Int32 = 50

    /// Opens the input and starts it.
    /// - Parameter patience: how long the PCM may deliver nothing before it counts as frozen.
    init(_ input: ALSAInput, _ wish: StreamWish, patience: Duration, logger: Logger) throws(StreamFailure) {
        let pcm = try input.open()
        format = try Self.start(pcm, wish)
        self.pcm = pcm
        tone = input.tone
        recovery = StreamRecovery(subject: "\(input)", logger: logger)
        progress = ProgressWatch(patience: patience, start: .now)
        pace = CapturePace(start: .now, rate: format.rate)
        bytes = [UInt8](repeating: 0, count: format.period * format.bytesPerFrame)
    }

    private static func start(_ pcm: borrowing PCM, _ wish: StreamWish) throws(StreamFailure) -> StreamFormat {
        do throws(ALSAError) {
            let format = try pcm.configure(wish)
            try pcm.start()
            return format
        } catch {
            throw .alsa(error)
        }
    }

    /// Opens, configures and closes the input, to see whether that works.
    static func probe(_ input: ALSAInput) throws(StreamFailure) {
        let pcm = try input.open()
        do { _ = try pcm.configure(.capture(rate: 48_000, channels: 1)) } catch { throw .alsa(error) }
    }

    consuming func close() { recovery.report() }

    /// Captures at most one period, or waits for one, at most ``longestWait``.
    /// - Returns: interleaved samples; none if there was nothing yet.
    mutating func advance() throws(StreamFailure) -> [Float] {
        var frames = 0
        do throws(ALSAError) {
            frames = try read()
        } catch {
            try recovery.recover(pcm, from: error)
            do { try pcm.start() } catch { throw .alsa(error) }
        }
        if progress.isFrozen(played: captured, at: .now) { throw .frozen(progress.patience) }
        guard frames > 0 else { return [] }
        defer { captured += frames }
        return samples(frames)
    }

    private mutating func read() throws(ALSAError) -> Int {
        let room = min(format.period, pace.room(captured: captured, at: .now))
        guard room > 0 else {
            sleepMilliseconds(Int32(format.seconds(format.period) * 1000))
            return 0
        }
        let frames = try pcm.available() > 0 ? try pcm.read(room, into: &bytes) : 0
        if frames == 0 { try wait() } else { waitedInVain = false }
        return frames
    }

    private mutating func wait() throws(ALSAError) {
        // A PCM that reports that it is ready but has no frames must not cause a busy loop.
        if waitedInVain { sleepMilliseconds(5) }
        waitedInVain = true
        try pcm.wait(atMost: Self.maxWait)
    }

    private func samples(_ frames: Int) -> [Float] {
        let samples = format.sample.samples(of: bytes[..<(frames * format.bytesPerFrame)])
        guard let tone else { return samples }
        let heard = tone.samples(frames, from: captured, rate: format.rate)
        return samples.indices.map { samples[$0] + heard[$0 / format.channels] }
    }
}

/// Prevents a PCM without a clock from delivering hours of sound in a second.
///
/// ALSA's `null` and `file` plugins deliver any amount at once. A real PCM cannot be ahead of time by more than a
/// moment; one that is gets slowed down to the clock from then on.
struct CapturePace {
    private let start: SuspendingClock.Instant
    private let rate: Int
    private var isHeldBack = false

    init(start: SuspendingClock.Instant, rate: Int) {
        self.start = start
        self.rate = rate
    }

    /// How many frames may be read now.
    mutating func room(captured: Int, at now: SuspendingClock.Instant) -> Int {
        let elapsed = Int(start.duration(to: now) / .seconds(1) * Double(rate))
        // A fifth of a second within a tenth: no buffer of a real card or server is filled that fast.
        if captured >= rate / 5, captured > 2 * elapsed { isHeldBack = true }
        return isHeldBack ? max(0, elapsed - captured) : Int.max
    }
}

/// Where recordings come from.
package enum ALSAInput: Sendable {
    /// A PCM of ALSA's configuration, such as `default` or `plughw:1,0`.
    case named(String)
    /// A microphone for machines without sound: ALSA's `null` plugin, with a quiet tone added.
    case simulated

    func open() throws(StreamFailure) -> PCM {
        do throws(ALSAError) {
            switch self {
            case .named(let name): return try PCM.open(name, .capture)
            case .simulated: return try PCM.open("simulated", of: try ConfigurationTree(Self.configuration), .capture)
            }
        } catch {
            throw .alsa(error)
        }
    }

    private static let configuration = "pcm.simulated { type null }"

    /// A tone added to what the PCM captures.
    var tone: Tone? {
        switch self {
        case .named: nil
        case .simulated: Tone(hertz: 440, level: 0.1)
        }
    }
}

extension ALSAInput: CustomStringConvertible {
    package var description: String {
        switch self {
        case .named(let name): "the capture PCM \(name)"
        case .simulated: "the simulated capture PCM"
        }
    }
}
