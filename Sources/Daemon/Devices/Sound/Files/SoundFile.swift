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

/// The owner of a `SNDFILE` open for writing 16-bit sound.
///
/// Even if this process crashes, everything except the last moment can be read: the headers of CAF and WAV files are
/// updated at each write, and Opus pages and FLAC blocks are short.
final class SoundFileWriter {
    private let handle: OpaquePointer
    private let channels: Int
    private var isOpen = true

    /// - Parameter file: its contents are overwritten.
    init(_ file: OpenFile, _ format: RecordingFormat, rate: Int, channels: Int) throws(SoundFile.Failure) {
        var info = SF_INFO()
        info.format = format.code
        info.samplerate = Int32(rate)
        info.channels = Int32(channels)
        guard let handle = sf_open(file.path, Int32(SFM_WRITE), &info) else {
            throw SoundFile.Failure(reason: String(cString: sf_strerror(nil)))
        }
        self.handle = handle
        self.channels = channels
        prepare(format)
    }

    deinit { if isOpen { sf_close(handle) } }

    private func prepare(_ format: RecordingFormat) {
        switch format {
        case .caf, .wav:
            _ = sf_command(handle, Int32(SFC_SET_UPDATE_HEADER_AUTO), nil, 1)
        case .flac:
            // The fastest three of FLAC's nine levels have blocks of 1152 frames, the others of 4096, which at 8 kHz is
            // half a second that a crash would lose.
            set(Int32(SFC_SET_COMPRESSION_LEVEL), 2.0 / 8)
        case .opus:
            // A page has a second of sound by default.
            set(Int32(SFC_SET_OGG_PAGE_LATENCY_MS), 200)
        }
    }

    private func set(_ command: Int32, _ value: Double) {
        var value = value
        _ = sf_command(handle, command, &value, Int32(MemoryLayout<Double>.size))
    }

    /// Writes interleaved frames.
    func write(_ samples: [Int16]) throws(SoundFile.Failure) {
        let frames = sf_count_t(samples.count / channels)
        guard sf_writef_short(handle, samples, frames) != frames else { return }
        let code = sf_error(handle)
        // libsndfile's text contains the system's error, if there was one.
        let reason = code == 0 ? "not all could be written" : String(cString: sf_strerror(handle))
        throw SoundFile.Failure(reason: reason)
    }

    /// Writes what is left, and the final header.
    func close() throws(SoundFile.Failure) {
        guard isOpen else { return }
        isOpen = false
        let code = sf_close(handle)
        guard code == 0 else { throw SoundFile.Failure(reason: String(cString: sf_error_number(code))) }
    }
}

/// The names of sound formats.
enum SoundFormat {
    /// The name of a format of libsndfile; nil if it has none here.
    static func name(_ format: Int) -> String? {
        switch format & Int(SF_FORMAT_TYPEMASK) {
        case Int(SF_FORMAT_CAF): "caf"
        case Int(SF_FORMAT_WAV), Int(SF_FORMAT_WAVEX), Int(SF_FORMAT_RF64), Int(SF_FORMAT_W64): "wav"
        case Int(SF_FORMAT_AIFF): "aiff"
        case Int(SF_FORMAT_FLAC): "flac"
        case Int(SF_FORMAT_OGG): format & Int(SF_FORMAT_SUBMASK) == Int(SF_FORMAT_OPUS) ? "opus" : "vorbis"
        case Int(SF_FORMAT_MPEG): "mp3"
        case Int(SF_FORMAT_AU): "au"
        case 0: nil
        default: "other"
        }
    }
}

/// The formats of recordings.
enum RecordingFormat: String, CaseIterable {
    case caf, wav, flac, opus

    /// The format for a file extension. `.ogg` is Opus, because Vorbis files do not survive a kill.
    init?(ending: String) {
        self.init(rawValue: ending == "ogg" ? "opus" : ending)
    }

    static let endings = ".caf, .wav, .flac, .ogg or .opus"

    /// Libsndfile's number for it.
    var code: Int32 {
        switch self {
        case .caf: Int32(SF_FORMAT_CAF | SF_FORMAT_PCM_16)
        case .wav: Int32(SF_FORMAT_WAV | SF_FORMAT_PCM_16)
        case .flac: Int32(SF_FORMAT_FLAC | SF_FORMAT_PCM_16)
        case .opus: Int32(SF_FORMAT_OGG | SF_FORMAT_OPUS)
        }
    }

    /// Whether the format supports that many frames per second.
    func takes(rate: Int) -> Bool {
        self == .opus ? Self.opusRates.contains(rate) : Self.rates.contains(rate)
    }

    static let rates = 8000...192_000
    static let opusRates = [8000, 12_000, 16_000, 24_000, 48_000]

    /// The most frames in a file; nil if there is no practical limit. A WAV file counts its bytes in 32 bits.
    func maxFrames(channels: Int) -> Int? {
        self == .wav ? (Int(UInt32.max) - 65_536) / (2 * channels) : nil
    }
}
