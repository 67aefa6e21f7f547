internal import Glibc
internal import Logging

/// A PCM that plays what a mixer gives, for as long as it is advanced.
///
/// Silence is played where the mixer has nothing, so that the PCM never runs dry before its last sound was heard.
struct PlaybackStream: ~Copyable {
    /// What keeps time.
    private enum Clock {
        /// Not known before the first frames were written.
        case unknown
        /// The PCM itself.
        case device
        /// The PCM takes everything at once: see ``Pacer``.
        case own(Pacer)
    }

    private let pcm: PCM
    let format: StreamFormat
    private let output: ALSAOutput

    private var clock = Clock.unknown
    /// Mixed bytes that the PCM has not taken yet, from `sent` on.
    private var block: [UInt8] = []
    private var sent = 0
    /// Frames that the PCM has taken.
    private(set) var written = 0
    /// Frames that have been heard.
    private(set) var played = 0
    private var progress: ProgressWatch
    private var recovery: StreamRecovery
    /// Whether the last wait ended without room.
    private var waitedInVain = false

    /// Milliseconds of the longest wait: how soon a stopped sound or a new one is noticed while the PCM hangs.
    private static let longestWait: Int32 = 50

    /// Opens the output.
    /// - Parameter patience: how long nothing may be heard before the PCM counts as frozen.
    init(_ output: ALSAOutput, patience: Duration, logger: Logger) throws(StreamFailure) {
        let pcm = try output.open()
        do { format = try pcm.configure(.playback) } catch { throw .alsa(error) }
        self.pcm = pcm
        self.output = output
        recovery = StreamRecovery(subject: "\(output)", logger: logger)
        progress = ProgressWatch(patience: patience, start: .now)
    }

    /// Opens and configures the output and closes it again, to see whether that can be done.
    static func probe(_ output: ALSAOutput) throws(StreamFailure) {
        let pcm = try output.open()
        do { _ = try pcm.configure(.playback) } catch { throw .alsa(error) }
    }

    /// Closes the PCM. What was written and not heard yet is lost, but not for a file.
    consuming func close() {
        // Draining waits for the clock, for ever if that stands still. Without a clock there is nothing to wait for.
        if case .own = clock { try? pcm.drain() }
        recovery.report()
    }

    /// Writes a period, or waits until one fits, at most for ``longestWait``.
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
    /// Works out how much has been heard.
    private mutating func follow(_ fill: PCM.Fill) {
        switch clock {
        case .own(let pacer):
            played = min(written, pacer.elapsed(at: .now))
        case .unknown, .device:
            // A plugin's delay may be a guess that goes on while its server stands still. What has not left the
            // buffer has surely not been heard.
            guard let delay = fill.delay else { return }
            played = max(played, written - max(0, delay, format.buffer - fill.room))
        }
    }

    /// How many frames may be written now without going beyond the lead.
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

    /// Whether nothing needs to be written any more. A PCM with a clock goes on with silence instead, else it would
    /// run dry at a moment that nobody knows exactly.
    private func isWaitingForEnd(_ mixer: Mixer) -> Bool {
        if case .own = clock { mixer.isExhausted } else { false }
    }

    /// A PCM has no clock if frames are gone in less time than they last.
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
            // Such a PCM is always ready: waiting for it would be a busy loop.
            return sleepMilliseconds(min(Self.longestWait, Int32(format.seconds(format.period) * 1000)))
        }
        // A PCM that says it is ready and has no room must not become a busy loop either.
        if waitedInVain { sleepMilliseconds(5) }
        waitedInVain = true
        try pcm.wait(atMost: Self.longestWait)
    }
}
