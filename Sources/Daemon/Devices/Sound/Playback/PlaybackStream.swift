internal import Glibc
internal import Logging

/// A PCM that plays a mixer's output, for as long as it is advanced.
///
/// If the mixer has nothing, it plays silence, so that the PCM does not run dry before its last sound was heard.
struct PlaybackStream: ~Copyable {
    /// The clock of the PCM.
    private enum Clock {
        /// Unknown until the first frames have been written.
        case unknown
        /// The PCM has its own clock.
        case device
        /// The PCM takes everything at once: see ``Pacer``.
        case own(Pacer)
    }

    private let pcm: PCM
    let format: StreamFormat
    private let output: ALSAOutput

    private var clock: Clock
    /// Mixed bytes that the PCM has not taken yet, from `sent` on.
    private var block: [UInt8]
    private var sent = 0
    /// Frames that the PCM has taken.
    private(set) var written = 0
    /// Frames that have been heard.
    private(set) var played = 0
    private var progress: ProgressWatch
    private var recovery: StreamRecovery
    /// Whether the last wait timed out without room.
    private var waitedInVain = false

    /// The longest wait in milliseconds. It limits how late a stopped or new sound is noticed while the PCM hangs.
    private static let maxWait: Int32 = 50

    /// Opens the output.
    /// - Parameter patience: how long the PCM may play nothing before it counts as frozen.
    init(_ output: ALSAOutput, patience: Duration, logger: Logger) throws(StreamFailure) {
        let pcm = try output.open()
        do { format = try pcm.configure(.playback) } catch { throw .alsa(error) }
        self.pcm = pcm
        self.output = output
        // Not where they are declared: Swift 6.2 cannot have values that are freed there if this throws before.
        clock = .unknown
        block = []
        recovery = StreamRecovery(subject: "\(output)", logger: logger)
        progress = ProgressWatch(patience: patience, start: .now)
    }

    /// Opens, configures and closes the output, to see whether that works.
    static func probe(_ output: ALSAOutput) throws(StreamFailure) {
        let pcm = try output.open()
        do { _ = try pcm.configure(.playback) } catch { throw .alsa(error) }
    }

    /// Closes the PCM. Frames that were not heard yet are lost, except in a file.
    consuming func close() {
        // Draining waits for the clock, forever if it has stopped. Without a clock it does not wait.
        if case .own = clock { try? pcm.drain() }
        recovery.report()
    }

    /// Writes one period, or waits until one fits, at most ``longestWait``.
    mutating func advance(_ mixer: inout Mixer) throws(StreamFailure) {
        do throws(ALSAError) {
            let fill = try pcm.fill()
            follow(fill)
            try write(&mixer, room: room(fill))
        } catch {
            try recovery.recover(pcm, from: error)
        }
        if progress.isFrozen(played: played, at: .now) { throw .frozen(progress.patience) }
    }
}

extension PlaybackStream {
    /// Determines how much has been heard.
    private mutating func follow(_ fill: PCM.Fill) {
        switch clock {
        case .own(let pacer):
            played = min(written, pacer.elapsed(at: .now))
        case .unknown, .device:
            // A plugin may extrapolate its delay even though its server has stopped. What has not left the buffer has
            // certainly not been heard.
            guard let delay = fill.delay else { return }
            played = max(played, written - max(0, delay, format.buffer - fill.room))
        }
    }

    /// How many frames may be written now without exceeding the lead.
    private func room(_ fill: PCM.Fill) -> Int {
        if case .own(let pacer) = clock { return min(fill.room, pacer.room(written: written, at: .now)) }
        return min(fill.room, format.lead - max(0, format.buffer - fill.room))
    }

    private mutating func write(_ mixer: inout Mixer, room: Int) throws(ALSAError) {
        if sent == block.count {
            guard room >= format.period, !isWaitingForEnd(mixer) else { return try wait() }
            waitedInVain = false
            let samples = mixer.mix(format.period)
            let gain = output.gain
            block = format.sample.bytes(of: gain == 1 ? samples : samples.map { $0 * gain })
            sent = 0
        }
        let begin = SuspendingClock.now
        let frames = try pcm.write(block, from: sent, format: format)
        guard frames > 0 else { return try wait() }
        sent += frames * format.bytesPerFrame
        written += frames
        if case .unknown = clock { try findClock(after: frames, since: begin) }
    }

    /// Whether nothing more needs to be written. A PCM with a clock gets silence instead, because it would otherwise
    /// run dry at an unknown moment.
    private func isWaitingForEnd(_ mixer: Mixer) -> Bool {
        if case .own = clock { mixer.isExhausted } else { false }
    }

    /// A PCM has no clock if it consumes frames in less time than they last.
    private mutating func findClock(after frames: Int, since begin: SuspendingClock.Instant) throws(ALSAError) {
        let fill = try pcm.fill()
        guard let delay = fill.delay else { return }
        let now = SuspendingClock.now
        if delay > 0 || fill.room < format.buffer {
            clock = .device
        } else if begin.duration(to: now) < .seconds(format.seconds(frames) / 2) {
            clock = .own(Pacer(start: now, rate: format.rate, lead: format.lead))
        }
    }

    private mutating func wait() throws(ALSAError) {
        if case .own = clock {
            // Such a PCM is always ready, so waiting for it would be a busy loop.
            return sleepMilliseconds(min(Self.maxWait, Int32(format.seconds(format.period) * 1000)))
        }
        // A PCM that reports that it is ready but has no room must not cause a busy loop either.
        if waitedInVain { sleepMilliseconds(5) }
        waitedInVain = true
        try pcm.wait(atMost: Self.maxWait)
    }
}
