internal import CSndFile
internal import Glibc

/// The owner of a `SNDFILE` open for reading, in any format that libsndfile reads.
struct SoundFile: ~Copyable {
    /// Why a file gives no sound.
    struct Failure: Error, Equatable {
        /// What libsndfile says, or what is wrong with the sound.
        let reason: String
        /// Whether it is no sound file at all, as far as libsndfile can tell.
        var isForeign = false
    }

    private let handle: OpaquePointer
    let channels: Int
    let rate: Int

    init(path: String) throws(Failure) {
        var info = SF_INFO()
        guard let handle = sf_open(path, Int32(SFM_READ), &info) else {
            let isForeign = sf_error(nil) == Int32(SF_ERR_UNRECOGNISED_FORMAT)
            throw Failure(reason: String(cString: sf_strerror(nil)), isForeign: isForeign)
        }
        self.handle = handle
        channels = Int(info.channels)
        rate = Int(info.samplerate)
    }

    deinit { sf_close(handle) }

    /// Reads the sound, but no more than `limit` frames. Headers may say anything, so they are not believed.
    /// - Returns: mono or stereo; more channels are mixed down to mono. What is not a number becomes silence.
    func read(atMost limit: Int) throws(Failure) -> SoundBuffer {
        var samples: [Float] = []
        var chunk = [Float](repeating: 0, count: Self.chunkFrames * channels)
        while samples.count < limit * channels {
            let frames = Int(sf_readf_float(handle, &chunk, sf_count_t(Self.chunkFrames)))
            if frames <= 0 { break }
            samples += chunk[..<(frames * channels)]
        }
        let code = sf_error(handle)
        guard code == 0 else { throw Failure(reason: String(cString: sf_error_number(code))) }
        samples.removeLast(max(0, samples.count - limit * channels))
        let finite = samples.map { $0.isFinite ? $0 : 0 }
        guard channels > 2 else { return SoundBuffer(samples: finite, channels: channels, rate: rate) }
        return SoundBuffer(samples: Self.mixedDown(finite, channels), channels: 1, rate: rate)
    }

    private static let chunkFrames = 4096

    private static func mixedDown(_ samples: [Float], _ channels: Int) -> [Float] {
        stride(from: 0, to: samples.count, by: channels).map { first in
            samples[first..<(first + channels)].reduce(0, +) / Float(channels)
        }
    }
}
