internal import CALSA

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
