internal import CSampleRate

/// The owner of a `SRC_STATE` of libsamplerate.
private final class RateConverter: @unchecked Sendable {
    // Sendable because its owner, a voice's source, is only read on the sound thread.
    private let state: OpaquePointer?

    init(channels: Int) {
        var error: Int32 = 0
        // Good enough for human ears (97 dB), and fast enough for a small device while it plays.
        state = src_new(Int32(SRC_SINC_MEDIUM_QUALITY), Int32(channels), &error)
    }

    deinit { _ = src_delete(state) }

    /// - Returns: whether it could convert.
    func process(_ data: inout SRC_DATA) -> Bool {
        state != nil && src_process(state, &data) == 0
    }
}

/// Another source, resampled as it is read.
struct ResampledSource: VoiceSource {
    private var source: any VoiceSource
    private let converter: RateConverter
    /// Samples read from the source but not yet converted, interleaved.
    private var input: [Float] = []
    private var chunk: [Float]
    private(set) var isAtEnd = false
    let rate: Int

    /// Frames read from the source at once.
    private static let chunkFrames = 512

    init(_ source: any VoiceSource, to rate: Int) {
        self.source = source
        self.rate = rate
        converter = RateConverter(channels: source.channels)
        chunk = [Float](repeating: 0, count: Self.chunkFrames * source.channels)
    }

    var channels: Int { source.channels }

    mutating func read(_ count: Int, into buffer: inout [Float]) -> Int {
        var done = 0
        while done < count, !isAtEnd {
            if input.isEmpty, !source.isAtEnd {
                let frames = source.read(Self.chunkFrames, into: &chunk)
                if frames == 0, !source.isAtEnd { break }
                input = Array(chunk[..<(frames * channels)])
            }
            done += convert(into: &buffer, from: done, to: count)
        }
        return done
    }

    /// Converts as much of `input` as possible.
    /// - Returns: the number of frames written to `buffer`.
    private mutating func convert(into buffer: inout [Float], from first: Int, to count: Int) -> Int {
        var data = SRC_DATA()
        data.src_ratio = Double(rate) / Double(source.rate)
        data.input_frames = input.count / channels
        data.output_frames = count - first
        data.end_of_input = source.isAtEnd ? 1 : 0
        let converted = input.withUnsafeBufferPointer { from in
            buffer.withUnsafeMutableBufferPointer { to in
                data.data_in = from.baseAddress
                data.data_out = to.baseAddress.map { $0 + first * channels }
                return converter.process(&data)
            }
        }
        input.removeFirst(data.input_frames_used * channels)
        // Also ends if nothing moves any more, so that there is no endless loop.
        let isIdle = data.input_frames_used == 0 && data.output_frames_gen == 0
        isAtEnd = !converted || (isIdle && (source.isAtEnd || !input.isEmpty))
        return data.output_frames_gen
    }
}

extension SoundBuffer {
    /// The same sound at another rate, in the best quality of libsamplerate; nil if that fails.
    func resampled(to rate: Int) -> SoundBuffer? {
        guard rate != self.rate else { return self }
        let ratio = Double(rate) / Double(self.rate)
        let room = Int((Double(frames) * ratio).rounded(.up)) + 1
        var data = SRC_DATA()
        data.src_ratio = ratio
        data.input_frames = frames
        data.output_frames = room
        var output = [Float](repeating: 0, count: room * channels)
        let result = samples.withUnsafeBufferPointer { from in
            output.withUnsafeMutableBufferPointer { to in
                data.data_in = from.baseAddress
                data.data_out = to.baseAddress
                return src_simple(&data, Int32(SRC_SINC_BEST_QUALITY), Int32(channels))
            }
        }
        guard result == 0 else { return nil }
        output.removeLast((room - data.output_frames_gen) * channels)
        return SoundBuffer(samples: output, channels: channels, rate: rate)
    }
}
