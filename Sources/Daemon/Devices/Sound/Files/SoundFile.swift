internal import CSndFile
internal import Glibc
internal import MediaFolder

/// The owner of a `SNDFILE` open for reading, in any format that libsndfile reads.
struct SoundFile: ~Copyable {
    /// Why a file cannot be read as sound.
    struct Failure: Error, Equatable {
        /// libsndfile's message, or what is wrong with the sound.
        let reason: String
        /// Whether libsndfile does not recognize it as a sound file.
        var isForeign = false
    }

    private let handle: OpaquePointer
    private let info: SF_INFO

    var channels: Int { Int(info.channels) }
    var rate: Int { Int(info.samplerate) }

    init(path: String) throws(Failure) {
        var info = SF_INFO()
        try self.init(sf_open(path, Int32(SFM_READ), &info), info)
    }

    init(_ file: OpenFile) throws(Failure) { try self.init(path: file.path) }

    private init(_ handle: OpaquePointer?, _ info: SF_INFO) throws(Failure) {
        guard let handle else {
            let isForeign = sf_error(nil) == Int32(SF_ERR_UNRECOGNISED_FORMAT)
            throw Failure(reason: String(cString: sf_strerror(nil)), isForeign: isForeign)
        }
        self.handle = handle
        self.info = info
    }

    deinit { sf_close(handle) }

    /// Its length in frames according to its header; nil if the header does not know.
    var frames: Int? { info.frames < Int64.max / 2 ? Int(info.frames) : nil }

    /// Its duration in seconds.
    var duration: Double? { frames.map { Double($0) / Double(rate) } }

    /// Such as `wav`, `flac` or `opus`.
    var format: String? { SoundFormat.name(Int(info.format)) }

    /// Moves to a frame.
    /// - Returns: whether that worked.
    func seek(to frame: Int) -> Bool { sf_seek(handle, sf_count_t(frame), Int32(SEEK_SET)) == frame }

    /// Reads interleaved frames to the front of `buffer`.
    /// - Returns: the number of frames; 0 at the end.
    func read(_ frames: Int, into buffer: inout [Float]) throws(Failure) -> Int {
        let count = Int(sf_readf_float(handle, &buffer, sf_count_t(frames)))
        if count < frames { try check() }
        for index in 0..<count * channels where !buffer[index].isFinite { buffer[index] = 0 }
        return count
    }

    private func check() throws(Failure) {
        let code = sf_error(handle)
        guard code == 0 else { throw Failure(reason: String(cString: sf_error_number(code))) }
    }

    /// Reads the sound, but no more than `limit` frames. Headers are not trusted.
    /// - Returns: mono or stereo; more channels are mixed down to mono. What is not a number becomes silence.
    func read(atMost limit: Int) throws(Failure) -> SoundBuffer {
        var samples: [Float] = []
        var chunk = [Float](repeating: 0, count: Self.chunkFrames * channels)
        while samples.count < limit * channels {
            let frames = Int(sf_readf_float(handle, &chunk, sf_count_t(Self.chunkFrames)))
            if frames <= 0 { break }
            samples += chunk[..<(frames * channels)]
        }
        try check()
        samples.removeLast(max(0, samples.count - limit * channels))
        let finite = samples.map { $0.isFinite ? $0 : 0 }
        guard channels > 2 else { return SoundBuffer(samples: finite, channels: channels, rate: rate) }
        return SoundBuffer(samples: Channels.converted(finite, from: channels, to: 1), channels: 1, rate: rate)
    }

    private static let chunkFrames = 4096
}
