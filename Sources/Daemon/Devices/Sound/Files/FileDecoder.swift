internal import MediaFolder

/// A sound file as a source that ends after its last repetition. It blocks while it reads.
final class FileDecoder: VoiceSource, @unchecked Sendable {
    // Sendable because only the thread that reads the file uses it.
    private let file: SoundFile
    /// How often it is repeated; nil: forever.
    private var loops: Int?
    private var chunk: [Float] = []
    /// Whether anything was read since the last repetition: an empty file must not be repeated forever.
    private var hasRead = false
    private(set) var isAtEnd = false
    /// Why it ended early.
    private(set) var failure: SoundFile.Failure?

    let channels: Int
    var rate: Int { file.rate }
    var duration: Double? { file.duration }

    /// Plausible frame rates and channel counts; a file beyond these is not sound.
    private static let rates = 1000...768_000
    private static let maxChannels = 64

    /// - Parameter loops: how often it is repeated; nil: forever.
    init(_ file: OpenFile, loops: Int?) throws(SoundFile.Failure) {
        let sound = try SoundFile(file)
        guard Self.rates.contains(sound.rate) else {
            throw SoundFile.Failure(reason: "\(sound.rate) frames a second cannot be played")
        }
        guard sound.channels <= Self.maxChannels else {
            throw SoundFile.Failure(reason: "\(sound.channels) channels cannot be played")
        }
        channels = sound.channels > 2 ? 1 : sound.channels
        self.file = sound
        self.loops = loops
    }

    /// - Returns: whether the position exists.
    func seek(to seconds: Double) -> Bool { file.seek(to: Int(seconds * Double(file.rate))) }

    func read(_ count: Int, into buffer: inout [Float]) -> Int {
        while !isAtEnd {
            do throws(SoundFile.Failure) {
                let frames = try readOnce(count, into: &buffer)
                hasRead = hasRead || frames > 0
                if frames > 0 { return frames }
                beginAgain()
            } catch {
                failure = error
                isAtEnd = true
            }
        }
        return 0
    }

    private func readOnce(_ count: Int, into buffer: inout [Float]) throws(SoundFile.Failure) -> Int {
        guard file.channels > channels else { return try file.read(count, into: &buffer) }
        if chunk.count < count * file.channels { chunk = [Float](repeating: 0, count: count * file.channels) }
        let frames = try file.read(count, into: &chunk)
        let mixed = Channels.converted(Array(chunk[..<(frames * file.channels)]), from: file.channels, to: channels)
        buffer.replaceSubrange(0..<mixed.count, with: mixed)
        return frames
    }

    private func beginAgain() {
        isAtEnd = !hasRead || loops == 0 || !file.seek(to: 0)
        loops = loops.map { $0 - 1 }
        hasRead = false
    }
}
