import CSndFile
import TestRig

/// Writes sound files of any format, for tests that read them.
enum SoundMaker {
    private static let formats = [
        "caf": SF_FORMAT_CAF | SF_FORMAT_PCM_16, "wav": SF_FORMAT_WAV | SF_FORMAT_PCM_16,
        "aiff": SF_FORMAT_AIFF | SF_FORMAT_PCM_16, "flac": SF_FORMAT_FLAC | SF_FORMAT_PCM_16,
        "ogg": SF_FORMAT_OGG | SF_FORMAT_VORBIS, "opus": SF_FORMAT_OGG | SF_FORMAT_OPUS,
        "au": SF_FORMAT_AU | SF_FORMAT_PCM_16, "mp3": SF_FORMAT_MPEG | SF_FORMAT_MPEG_LAYER_III,
    ]

    /// - Parameter path: its ending says the format.
    static func write(_ sound: [Float], to path: String) throws {
        let ending = path.split(separator: ".").last.map(String.init) ?? ""
        var info = SF_INFO()
        info.format = Int32(formats[ending] ?? 0)
        info.samplerate = 48_000
        info.channels = 1
        guard let file = sf_open(path, Int32(SFM_WRITE), &info) else {
            throw NotInTime(description: String(cString: sf_strerror(nil)))
        }
        sf_writef_float(file, sound, sf_count_t(sound.count))
        sf_close(file)
    }
}
