internal import CALSA

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

/// The format of one sample in a PCM's memory, in this machine's byte order.
enum SampleFormat: CaseIterable {
    // In the order they are tried. Most sounds and cards have 16 bits, and 16-bit files then stay exact; some cards
    // only have 32 bits; software PCMs often use floats.
    case int16, int32, float

    var alsaFormat: snd_pcm_format_t {
        switch self {
        case .int16: SND_PCM_FORMAT_S16
        case .int32: SND_PCM_FORMAT_S32
        case .float: SND_PCM_FORMAT_FLOAT
        }
    }

    var bytesPerSample: Int { self == .int16 ? 2 : 4 }

    /// The samples in this format. Values beyond full scale saturate; a sample that was 16 bits wide (n / 32768) keeps
    /// the same 16 bits.
    func bytes(of samples: [Float]) -> [UInt8] {
        switch self {
        case .int16: Self.bytes(samples.map { Int16(Self.scaled($0, by: 32768)) })
        case .int32: Self.bytes(samples.map { Int32(Self.scaled($0, by: 2_147_483_648)) })
        case .float: Self.bytes(samples.map { max(-1, min(1, $0)) })
        }
    }

    private static func scaled(_ sample: Float, by scale: Double) -> Double {
        max(-scale, min(scale - 1, (Double(sample) * scale).rounded()))
    }

    private static func bytes<Value: BitwiseCopyable>(_ values: [Value]) -> [UInt8] {
        values.withUnsafeBytes { [UInt8]($0) }
    }

    /// The samples in bytes of this format, full scale being 1. Values that are not a number become silence.
    func samples(of bytes: ArraySlice<UInt8>) -> [Float] {
        bytes.withUnsafeBytes { bytes in
            switch self {
            case .int16: Self.values(bytes, Int16.self).map { Float($0) / 32768 }
            case .int32: Self.values(bytes, Int32.self).map { Float($0) / 2_147_483_648 }
            case .float: Self.values(bytes, Float.self).map { $0.isFinite ? $0 : 0 }
            }
        }
    }

    private static func values<Value: BitwiseCopyable>(_ bytes: UnsafeRawBufferPointer, _: Value.Type) -> [Value] {
        let size = MemoryLayout<Value>.size
        return (0..<bytes.count / size).map { bytes.loadUnaligned(fromByteOffset: $0 * size, as: Value.self) }
    }
}
