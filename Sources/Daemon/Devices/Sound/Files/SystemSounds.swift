internal import Glibc
internal import Linux
package import Logging
package import QuickConnect

/// The short sounds of a folder, decoded once and kept in memory.
package struct SystemSounds: Sendable {
    struct Sound: Sendable {
        let number: Int
        let name: String
        /// The sound converted to the mixer's rate, if that worked.
        let buffer: SoundBuffer
        let seconds: Double
    }

    let sounds: [Sound]

    /// No sounds at all.
    package static let none = SystemSounds(sounds: [])

    /// The sounds that `playSound` can play, by number. Number 0 is missing if `laser.wav` is.
    package var list: [SystemSound] {
        sounds.map { SystemSound(number: $0.number, name: $0.name, seconds: $0.seconds) }
    }

    /// Reads every sound file of a folder, in any format that libsndfile reads.
    ///
    /// `laser.wav` is number 0, the others follow from 1, sorted by the bytes of their names; they have the same
    /// numbers without a `laser.wav`. Files that are not sounds are ignored. Sounds that cannot be read, and those of 5
    /// seconds or more, are logged and left out. Without the folder there are no sounds, and one warning.
    /// - Parameters:
    ///   - folder: its path. Subfolders are ignored.
    ///   - rate: the rate in frames per second to which every sound is converted: that of the PCMs.
    package static func load(folder: String, rate: Int = 48_000, logger: Logger) -> SystemSounds {
        guard let names = FileText.names(in: folder) else {
            logger.warning("no system sounds: the folder \(folder) cannot be read")
            return SystemSounds(sounds: [])
        }
        var read: [(name: String, buffer: SoundBuffer, seconds: Double)] = []
        for name in names where name.utf8.first != UInt8(ascii: ".") && FileText.isFile("\(folder)/\(name)") {
            do throws(SoundFile.Failure) {
                let sound = try decode("\(folder)/\(name)")
                guard let buffer = sound.resampled(to: rate) else {
                    throw SoundFile.Failure(reason: "\(sound.rate) Hz cannot be converted to \(rate) Hz")
                }
                read.append((name, buffer, sound.seconds))
            } catch {
                if error.isForeign && !isSoundName(name) { continue }
                logger.warning("\(folder)/\(name) is left out of the system sounds: \(error.reason)")
            }
        }
        let sounds = zip(numbers(of: read.map(\.name)), read).map { number, sound in
            Sound(number: number, name: sound.name, buffer: sound.buffer, seconds: sound.seconds)
        }
        return SystemSounds(sounds: sounds.sorted { $0.number < $1.number })
    }

    /// The number of each name; the names must be sorted by their bytes.
    static func numbers(of names: [String]) -> [Int] {
        var last = 0
        return names.map { name in
            if name.utf8.elementsEqual("laser.wav".utf8) { return 0 }
            last += 1
            return last
        }
    }

    private static func decode(_ path: String) throws(SoundFile.Failure) -> SoundBuffer {
        let file = try SoundFile(path: path)
        let sound = try file.read(atMost: 5 * file.rate)
        guard sound.frames > 0 else { throw SoundFile.Failure(reason: "there is no sound in it") }
        guard sound.frames < 5 * file.rate else { throw SoundFile.Failure(reason: "it is not shorter than 5 s") }
        return sound
    }

    /// Whether a file that libsndfile does not recognize has the name of a sound, so that a warning is useful.
    static func isSoundName(_ name: String) -> Bool {
        let endings: Set = [
            "aif", "aifc", "aiff", "au", "caf", "flac", "mp3", "oga", "ogg", "opus", "rf64", "snd", "w64", "wav",
        ]
        return name.split(separator: ".").last.map { endings.contains($0.lowercased()) } ?? false
    }
}
