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
enum StreamWish {
    /// The rate of nearly all hardware and of the system sounds.
    static let rate = 48_000
    static let channels = 2
    /// Microseconds. Deep enough that a busy small machine keeps up, shallow enough that nobody notices. Left unset, some
    /// PCMs choose 43 s.
    static let bufferTime: UInt32 = 100_000
    /// Microseconds. Five periods a buffer: PulseAudio's plugin insists on three, and each period is a wake-up.
    static let periodTime: UInt32 = 20_000
}
