internal import Glibc
internal import Logging
internal import MediaFolder
internal import QuickConnect

/// Repairs the files of recordings that a crash, a kill or a power loss cut off.
struct RecordingRecovery {
    let folder: MediaFolder
    let owners: MediaOwners
    let logger: Logger

    private static let chunk = 4096
    /// A file of at most this size has a header but no sound worth keeping; CAF's header has 4096 bytes.
    private static let maxBytesOfNothing = 8192

    /// Recovers all of them. Blocks; long FLAC files take a moment, since they are rewritten.
    func run() {
        do throws(CommandError) {
            for file in try folder.unfinished() { recover(file) }
        } catch {
            logger.warning("recordings that were cut off cannot be looked for: \(error.message)")
        }
    }

    private func recover(_ file: UnfinishedFile) {
        do throws(CommandError) {
            guard let seconds = try mend(file) else {
                if file.file.bytes > Self.maxBytesOfNothing {
                    return try setAside(file, "no sound can be read from it")
                }
                owners.abandon(file)
                return logger.notice("the recording '\(file.name)' was cut off before there was sound in it")
            }
            try owners.recover(file)
            logger.notice("the recording '\(file.name)' was cut off, and is recovered: \(seconds.inMilliseconds) s")
        } catch {
            logger.warning("the recording '\(file.name)' was cut off, and cannot be recovered: \(error.message)")
        }
    }

    /// Renames a file that cannot be read, so that its name is free again and its owner can examine it.
    private func setAside(_ file: UnfinishedFile, _ reason: String) throws(CommandError) {
        let name = try owners.setAside(file)
        logger.warning("the recording '\(file.name)' was cut off, and is kept as '\(name)': \(reason)")
    }

    /// - Returns: the seconds of sound in it; nil if there is none.
    private func mend(_ unfinished: UnfinishedFile) throws(CommandError) -> Double? {
        if unfinished.name.ending == RecordingFormat.caf.rawValue { CAFLength.mend(unfinished.file) }
        guard let read = try? measure(unfinished.file), read.frames > 0 else { return nil }
        return read.isWhole ? Double(read.frames) / Double(read.rate) : try copy(unfinished)
    }

    /// Reads as much of a file as possible.
    /// - Returns: its frames, and whether its header agrees.
    private func measure(_ file: OpenFile) throws(SoundFile.Failure) -> (frames: Int, rate: Int, isWhole: Bool) {
        let sound = try SoundFile(file)
        // A FLAC file that was cut off does not contain its length; reading it twice would only be slow.
        guard let said = sound.frames else { return (1, sound.rate, false) }
        var chunk = [Float](repeating: 0, count: Self.chunk * sound.channels)
        var frames = 0
        while let count = try? sound.read(Self.chunk, into: &chunk), count > 0 { frames += count }
        return (frames, sound.rate, frames == said || sound.format == RecordingFormat.opus.rawValue)
    }

    /// Copies what can be read to a new file, which replaces the first one.
    private func copy(_ unfinished: UnfinishedFile) throws(CommandError) -> Double? {
        guard let format = RecordingFormat(ending: unfinished.name.ending) else {
            throw CommandError(.unavailable, "its extension is not one of \(RecordingFormat.endings)")
        }
        guard (try? isRecording(unfinished.file, format)) == true else { return nil }
        let replacement = try unfinished.replacement()
        let seconds: Double
        do throws(SoundFile.Failure) {
            seconds = try copy(try SoundFile(unfinished.file), to: replacement.file, format)
        } catch {
            replacement.discard()
            throw CommandError(.unavailable, error.reason)
        }
        if seconds > 0 { try replacement.takePlace() } else { replacement.discard() }
        return seconds > 0 ? seconds : nil
    }

    /// Whether a recording can have this header. If not, it is damaged, and nothing could write the copy.
    private func isRecording(_ file: OpenFile, _ format: RecordingFormat) throws(SoundFile.Failure) -> Bool {
        let sound = try SoundFile(file)
        return format.takes(rate: sound.rate) && sound.channels <= 2
    }

    private func copy(
        _ sound: borrowing SoundFile,
        to file: OpenFile,
        _ format: RecordingFormat
    ) throws(SoundFile.Failure) -> Double {
        let writer = try SoundFileWriter(file, format, rate: sound.rate, channels: sound.channels)
        var chunk = [Float](repeating: 0, count: Self.chunk * sound.channels)
        var frames = 0
        // What cannot be read is the last block, which was being written.
        while let count = try? sound.read(Self.chunk, into: &chunk), count > 0 {
            try writer.write(chunk[..<(count * sound.channels)].map { Int16(max(-32768, min(32767, $0 * 32768))) })
            frames += count
        }
        try writer.close()
        return Double(frames) / Double(sound.rate)
    }
}

/// The length of the sound in the header of a CAF file.
///
/// A file is `caff`, four bytes, then chunks of a type (4 bytes), a size (8 bytes, the highest first) and as many bytes
/// (Apple Core Audio Format Specification 1.0). If the size of `data` reaches beyond the end of the file, libsndfile
/// finds no sound at all. That happens if the header reached the disk before a power loss and the sound did not.
enum CAFLength {
    private static let chunkHeader = 12

    /// Reduces the size of the data to fit the file, if it is too large. Other files are left unchanged.
    static func mend(_ file: OpenFile) {
        var place = 8
        while let header = read(file, at: place), let size = size(header) {
            let end = place + chunkHeader + size
            if header.starts(with: Array("data".utf8)) {
                if end > file.bytes { write(file.bytes - place - chunkHeader, to: file, at: place + 4) }
                return
            }
            place = end
        }
    }

    private static func read(_ file: OpenFile, at place: Int) -> [UInt8]? {
        var header = [UInt8](repeating: 0, count: chunkHeader)
        return pread(file.descriptor, &header, chunkHeader, place) == chunkHeader ? header : nil
    }

    /// The size in a chunk's header; nil if it is not plausible.
    private static func size(_ header: [UInt8]) -> Int? {
        let size = header[4...].reduce(Int64(0)) { $0 << 8 | Int64($1) }
        return (0...(1 << 50)).contains(size) ? Int(size) : nil
    }

    private static func write(_ size: Int, to file: OpenFile, at place: Int) {
        let bytes = (0..<8).map { UInt8(truncatingIfNeeded: size >> (8 * (7 - $0))) }
        _ = pwrite(file.descriptor, bytes, bytes.count, place)
    }
}
