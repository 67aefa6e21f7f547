internal import CSndFile

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
    func mostFrames(channels: Int) -> Int? {
        self == .wav ? (Int(UInt32.max) - 65_536) / (2 * channels) : nil
    }
}
