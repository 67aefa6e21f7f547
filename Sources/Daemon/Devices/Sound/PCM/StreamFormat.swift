/// The format negotiated with a PCM.
struct StreamFormat: Hashable {
    var sample: SampleFormat
    var channels: Int
    /// Frames per second. A frame is one sample of each channel.
    var rate: Int
    /// Frames after which the PCM reports progress.
    var period: Int
    /// The most frames that the PCM holds.
    var buffer: Int

    var bytesPerFrame: Int { sample.bytesPerSample * channels }

    /// Frames written ahead of what is heard: 100 ms, or less if the buffer is smaller.
    ///
    /// A PCM may insist on a larger buffer, but a new sound is heard only after what is ahead of it.
    var lead: Int { min(buffer, max(rate / 10, 2 * period)) }

    func seconds(_ frames: Int) -> Double { Double(frames) / Double(rate) }
}

/// The format requested when a PCM is opened. The PCM chooses the nearest one it supports.
struct StreamWish: Hashable {
    var rate: Int
    var channels: Int
    /// In microseconds. If unset, some PCMs choose 43 s.
    var bufferTime: UInt32
    /// In microseconds; each period causes a wake-up.
    var periodTime: UInt32

    /// The rate of nearly all hardware and of the system sounds. The buffer is large enough for a busy small machine to
    /// keep up, and small enough that nobody notices the delay. It has five periods: PulseAudio's plugin requires
    /// three.
    static let playback = StreamWish(rate: 48_000, channels: 2, bufferTime: 100_000, periodTime: 20_000)

    /// A large buffer costs nothing when capturing, since every period is read as soon as it is there; it only helps a
    /// machine that is late.
    static func capture(rate: Int, channels: Int) -> StreamWish {
        StreamWish(rate: rate, channels: channels, bufferTime: 500_000, periodTime: 20_000)
    }
}
