import ALSAAudio
import Configuration
import Logging

/// The sound devices of the settings: real ones, or simulated ones that write WAV files.
struct SoundDevices {
    let player: ALSASoundPlayer
    let volume: ALSAVolumeControl
    private let speaker: SimulatedSpeaker?

    /// - Parameter sounds: the folder of system sounds; nil reads none.
    init(_ settings: Settings, sounds: String?, logger: Logger) {
        speaker = settings.simulate ? SimulatedSpeaker(folder: settings.simulatedFolder) : nil
        let output = speaker.map { ALSAOutput.simulated($0) } ?? .named(settings.pcm)
        let loaded = sounds.map { SystemSounds.load(folder: $0, logger: logger) } ?? .none
        player = ALSASoundPlayer(output: output, sounds: loaded, logger: logger)
        volume = ALSAVolumeControl(output: output, logger: logger)
    }

    /// What is simulated, a sentence each.
    var simulationNotes: [String] {
        speaker.map { ["sound is simulated: what would be heard goes into WAV files in \($0.folder)"] } ?? []
    }

    func close() async {
        await player.close()
        await volume.close()
    }
}
