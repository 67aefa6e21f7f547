/// The sound of one voice: a system sound in memory, or a file that is read as it plays.
///
/// Read on the sound thread only, a period at a time, while other voices wait: it must not block. A source that has too
/// little yet returns fewer frames, and silence replaces the rest.
protocol VoiceSource: Sendable {
    /// 1 or 2. Frames are interleaved: left, right, left, right.
    var channels: Int { get }

    /// Frames per second.
    var rate: Int { get }

    /// Whether everything has been read.
    var isAtEnd: Bool { get }

    /// Reads at most `count` frames to the front of `buffer`, which holds at least `count * channels` samples.
    /// - Returns: the number of frames read.
    mutating func read(_ count: Int, into buffer: inout [Float]) -> Int
}

/// A whole sound in memory, interleaved. Copies share the samples.
struct SoundBuffer: Sendable, Equatable {
    var samples: [Float]
    var channels: Int
    var rate: Int

    var frames: Int { samples.count / channels }
    var seconds: Double { Double(frames) / Double(rate) }
}

/// Reads a sound in memory from beginning to end.
struct BufferSource: VoiceSource {
    private let sound: SoundBuffer
    private var position = 0

    init(_ sound: SoundBuffer) { self.sound = sound }

    var channels: Int { sound.channels }
    var rate: Int { sound.rate }
    var isAtEnd: Bool { position == sound.frames }

    mutating func read(_ count: Int, into buffer: inout [Float]) -> Int {
        let frames = min(count, sound.frames - position)
        let first = position * channels
        for index in 0..<frames * channels { buffer[index] = sound.samples[first + index] }
        position += frames
        return frames
    }
}
