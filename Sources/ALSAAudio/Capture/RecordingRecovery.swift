internal import Glibc
internal import Logging
internal import MediaFolder
internal import QuickConnect

/// Makes whole files of recordings that a crash, a kill or a power loss cut off.
struct RecordingRecovery {
    private let folder: MediaFolder
    private let logger: Logger

    private static let chunk = 4096

    init(folder: MediaFolder, logger: Logger) {
        self.folder = folder
        self.logger = logger
    }

    /// Recovers all there are. Blocks; long FLAC files take a moment, since they are written anew.
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
                file.discard()
                return logger.notice(
                    "the recording '\(file.name)' was cut off before there was sound in it: nothing is left"
                )
            }
            try file.publish()
            logger.notice("the recording '\(file.name)' was cut off, and is recovered: \(seconds.inMilliseconds) s")
        } catch {
            logger.warning("the recording '\(file.name)' was cut off, and cannot be recovered: \(error.message)")
        }
    }

    /// - Returns: the seconds that are in it, nil if there are none.
    private func mend(_ unfinished: UnfinishedFile) throws(CommandError) -> Double? {
        do throws(SoundFile.Failure) {
            let read = try measure(unfinished.file)
            guard read.frames > 0 else { return nil }
            if read.isWhole { return Double(read.frames) / Double(read.rate) }
        } catch {
            // A header that was never written: there is no sound before it.
            if unfinished.file.bytes < Self.chunk { return nil }
            throw CommandError(.unavailable, error.reason)
        }
        return try copy(unfinished)
    }

    /// Reads a file to where it can be read.
    /// - Returns: its frames, and whether its header says the same.
    private func measure(_ file: OpenFile) throws(SoundFile.Failure) -> (frames: Int, rate: Int, isWhole: Bool) {
        lseek(file.descriptor, 0, SEEK_SET)
        let sound = try SoundFile(file)
        // FLAC's length is not in a file that was cut off; reading all of it twice would be slow for nothing.
        guard let said = sound.frames else { return (1, sound.rate, false) }
        var chunk = [Float](repeating: 0, count: Self.chunk * sound.channels)
        var frames = 0
        while let count = try? sound.read(Self.chunk, into: &chunk), count > 0 { frames += count }
        return (frames, sound.rate, frames == said || sound.format == RecordingFormat.opus.rawValue)
    }

    /// Writes what can be read to a file of its own, which takes the place of the first one.
    private func copy(_ unfinished: UnfinishedFile) throws(CommandError) -> Double? {
        guard let format = RecordingFormat(ending: unfinished.name.ending) else {
            throw CommandError(.unavailable, "it ends in none of \(RecordingFormat.endings)")
        }
        let replacement = try unfinished.replacement()
        let seconds: Double
        do throws(SoundFile.Failure) {
            lseek(unfinished.file.descriptor, 0, SEEK_SET)
            seconds = try copy(try SoundFile(unfinished.file), to: replacement.file, format)
        } catch {
            replacement.discard()
            throw CommandError(.unavailable, error.reason)
        }
        if seconds > 0 { try replacement.takePlace() } else { replacement.discard() }
        return seconds > 0 ? seconds : nil
    }

    private func copy(
        _ sound: borrowing SoundFile,
        to file: OpenFile,
        _ format: RecordingFormat
    ) throws(SoundFile.Failure) -> Double {
        let writer = try SoundFileWriter(file, format, rate: sound.rate, channels: sound.channels)
        var chunk = [Float](repeating: 0, count: Self.chunk * sound.channels)
        var frames = 0
        // What cannot be read any more is the last block, which was being written.
        while let count = try? sound.read(Self.chunk, into: &chunk), count > 0 {
            try writer.write(chunk[..<(count * sound.channels)].map { Int16(max(-32768, min(32767, $0 * 32768))) })
            frames += count
        }
        try writer.close()
        return Double(frames) / Double(sound.rate)
    }
}
