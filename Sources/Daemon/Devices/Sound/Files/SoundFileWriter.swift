internal import CSndFile
internal import MediaFolder
internal import QuickConnect

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
