/// Mixes voices into one stream, and tracks which of them have been heard completely.
///
/// A value without clock or PCM: frames are counted from 0, the first one that was mixed.
struct Mixer {
    /// Identifies a voice.
    typealias ID = UInt64

    private struct Voice {
        let id: ID
        var source: any VoiceSource
        /// The frame after its last one, once its source is at its end.
        var end: Int?
        /// The parts that were mixed and not yet heard: where each begins, and its number of frames.
        var blocks: [(start: Int, frames: Int)] = []
        /// The number of its frames before those.
        var heard = 0

        /// Removes what has been heard.
        mutating func advance(played: Int) {
            while let block = blocks.first, block.start + block.frames <= played {
                heard += block.frames
                blocks.removeFirst()
            }
        }

        /// The number of its frames that have been heard.
        func position(played: Int) -> Int {
            heard + (blocks.first.map { max(0, min(played - $0.start, $0.frames)) } ?? 0)
        }
    }

    let channels: Int
    let rate: Int
    /// The number of frames mixed so far.
    private(set) var mixed = 0
    private var voices: [Voice] = []
    private var reading: [Float] = []

    init(channels: Int, rate: Int) {
        self.channels = channels
        self.rate = rate
    }

    var isEmpty: Bool { voices.isEmpty }

    /// Whether all frames of the voices have been mixed; what follows is silence.
    var isExhausted: Bool { voices.allSatisfy { $0.end != nil } }

    /// Adds a voice, which starts with the next frame that is mixed.
    mutating func add(_ id: ID, _ source: any VoiceSource) {
        let source = source.rate == rate ? source : ResampledSource(source, to: rate)
        voices.append(Voice(id: id, source: source))
    }

    /// Removes the voices for which `isWanted` returns false, at any position.
    mutating func keep(where isWanted: (ID) -> Bool) {
        voices.removeAll { !isWanted($0.id) }
    }

    /// Mixes the next frames. The sum is not limited: a sample may exceed 1.
    mutating func mix(_ frames: Int) -> [Float] {
        var sum = [Float](repeating: 0, count: frames * channels)
        for index in voices.indices where voices[index].end == nil {
            let needed = frames * voices[index].source.channels
            if reading.count < needed { reading = [Float](repeating: 0, count: needed) }
            let count = voices[index].source.read(frames, into: &reading)
            add(count, of: voices[index].source.channels, to: &sum)
            if count > 0 { voices[index].blocks.append((mixed, count)) }
            if voices[index].source.isAtEnd { voices[index].end = mixed + count }
        }
        mixed += frames
        return sum
    }

    /// Adds the frames just read: mono to every channel, stereo to the first two, or its mean to a single one.
    private func add(_ frames: Int, of sourceChannels: Int, to sum: inout [Float]) {
        for frame in 0..<frames {
            let target = frame * channels
            if sourceChannels == 1 {
                for channel in 0..<channels { sum[target + channel] += reading[frame] }
            } else if channels == 1 {
                sum[target] += (reading[2 * frame] + reading[2 * frame + 1]) / 2
            } else {
                sum[target] += reading[2 * frame]
                sum[target + 1] += reading[2 * frame + 1]
            }
        }
    }

    /// How many frames of each voice have been heard. Silence that replaced late frames does not count.
    /// - Parameter played: the number of mixed frames that have been heard.
    mutating func positions(played: Int) -> [ID: Int] {
        var positions: [ID: Int] = [:]
        for index in voices.indices {
            voices[index].advance(played: played)
            positions[voices[index].id] = voices[index].position(played: played)
        }
        return positions
    }

    /// Removes the voices whose last frame has been heard, and returns their ids.
    mutating func removeFinished(played: Int) -> [ID] {
        let finished = voices.filter { voice in voice.end.map { $0 <= played } ?? false }.map(\.id)
        if !finished.isEmpty { voices.removeAll { finished.contains($0.id) } }
        return finished
    }
}
