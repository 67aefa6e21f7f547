internal import Glibc
import Linux
internal import QuickConnect
internal import Synchronization

/// Where the sound goes.
package enum ALSAOutput: Sendable {
    /// A PCM of ALSA's configuration, such as `default` or `plughw:1,0`.
    case named(String)
    /// Files instead of a loudspeaker.
    case simulated(SimulatedSpeaker)

    func open() throws(StreamFailure) -> PCM {
        switch self {
        case .named(let name):
            do { return try PCM.open(name, .playback) } catch { throw .alsa(error) }
        case .simulated(let speaker):
            return try speaker.open()
        }
    }

    var isSimulated: Bool { if case .simulated = self { true } else { false } }

    /// The factor for every sample. If there is a mixer, the mixer sets the volume and this is 1.
    var gain: Float {
        switch self {
        case .named: 1
        case .simulated(let speaker): speaker.gain
        }
    }
}

extension ALSAOutput: CustomStringConvertible {
    package var description: String {
        switch self {
        case .named(let name): "the PCM \(name)"
        case .simulated: "the simulated PCM"
        }
    }
}

/// A loudspeaker for machines without sound: each time it is opened, ALSA's own `file` plugin writes what is played
/// to the next WAV file of a folder, `playback-000001.wav` and so on.
///
/// Only the newest files are kept. Its volume scales what is written, and is not stored.
package final class SimulatedSpeaker: Sendable {
    private struct State {
        var latestFile: String?
        var volume = Volume(percent: 100, isMuted: false)
    }

    package let folder: String
    private let kept: Int
    private let state = Mutex(State())

    /// - Parameters:
    ///   - folder: the folder, created if missing.
    ///   - count: how many files to keep, at least 1. Older ones are deleted when a new one begins.
    package init(folder: String, keeping count: Int = 50) {
        self.folder = folder
        kept = max(1, count)
    }

    /// The file being written, or the last one; nil if nothing has been played yet.
    package var latestFile: String? { state.withLock { $0.latestFile } }

    var gain: Float {
        state.withLock { $0.volume.isMuted ? 0 : Float($0.volume.percent) / 100 }
    }

    func volume(applying change: VolumeChange?) -> Volume {
        state.withLock { state in
            switch change {
            case .percent(let percent): state.volume.percent = max(0, min(100, percent))
            case .muted(let isMuted): state.volume.isMuted = isMuted
            case nil: break
            }
            return state.volume
        }
    }

    func open() throws(StreamFailure) -> PCM {
        let path = try nextFile()
        do {
            let configuration = try ConfigurationTree(Self.configuration)
            try configuration.set("pcm.simulated.file", to: path.replacing("%", with: "%%"))
            let pcm = try PCM.open("simulated", of: configuration, .playback)
            state.withLock { $0.latestFile = path }
            return pcm
        } catch {
            throw .alsa(error)
        }
    }

    // The file's name is set later, as a value: a `%` in this text would be a field of the plugin.
    private static let configuration = """
        pcm.simulated { type file  slave.pcm { type null }  file "/dev/null"  format "wav"  perm 0640 }
        """

    /// Creates the folder, deletes old files, and names the next one.
    private func nextFile() throws(StreamFailure) -> String {
        do throws(SystemCallError) { try Folders.make(folder) } catch {
            throw .folder(folder, reason: SystemCallError.text(error.code))
        }
        guard let names = FileText.names(in: folder) else { throw .folder(folder, reason: SystemCallError.text(errno)) }
        let recordings = NumberedFiles(names)
        for name in recordings.surplus(keeping: kept - 1) { unlink("\(folder)/\(name)") }
        return "\(folder)/\(recordings.next)"
    }
}

/// The files of a simulated output among the names of a folder.
struct NumberedFiles {
    private let numbers: [Int]

    init(_ names: [String]) { numbers = names.compactMap(Self.number).sorted() }

    /// The name after the highest one.
    var next: String { Self.name((numbers.last ?? 0) + 1) }

    /// The lowest numbers beyond the count to keep.
    func surplus(keeping count: Int) -> [String] {
        numbers.dropLast(max(0, count)).map(Self.name)
    }

    private static func name(_ number: Int) -> String {
        let digits = String(number)
        return "playback-" + String(repeating: "0", count: max(0, 6 - digits.count)) + digits + ".wav"
    }

    private static func number(_ name: String) -> Int? {
        guard name.hasPrefix("playback-"), name.hasSuffix(".wav") else { return nil }
        guard let number = Int(name.dropFirst(9).dropLast(4)), Self.name(number) == name else { return nil }
        return number
    }
}
