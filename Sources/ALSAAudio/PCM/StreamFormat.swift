/// What a PCM and this program agreed on.
struct StreamFormat: Hashable {
    var sample: SampleFormat
    var channels: Int
    /// Frames a second. A frame is one sample of each channel.
    var rate: Int
    /// Frames after which the PCM reports progress.
    var period: Int
    /// Frames that the PCM holds at most.
    var buffer: Int

    var bytesPerFrame: Int { sample.bytesPerSample * channels }

    /// Frames written ahead of what is heard: 100 ms, or less where the buffer is smaller.
    ///
    /// Deeper buffers exist (a PCM may insist), but a sound that joins is heard only after what is ahead of it.
    var lead: Int { min(buffer, max(rate / 10, 2 * period)) }

    func seconds(_ frames: Int) -> Double { Double(frames) / Double(rate) }
}

/// What is asked for when a PCM is opened. It gives what it can nearest to this.
struct StreamWish: Hashable {
    var rate: Int
    var channels: Int
    /// Microseconds. Left unset, some PCMs choose 43 s.
    var bufferTime: UInt32
    /// Microseconds; each period is a wake-up.
    var periodTime: UInt32

    /// The rate of nearly all hardware and of the system sounds. The buffer is deep enough that a busy small machine
    /// keeps up, and shallow enough that nobody notices. Five periods a buffer: PulseAudio's plugin insists on three.
    static let playback = StreamWish(rate: 48_000, channels: 2, bufferTime: 100_000, periodTime: 20_000)

    /// A deep buffer costs nothing when sound is captured, since every period is taken out when it is there; it only
    /// forgives a machine that is late.
    static func capture(rate: Int, channels: Int) -> StreamWish {
        StreamWish(rate: rate, channels: channels, bufferTime: 500_000, periodTime: 20_000)
    }
}
