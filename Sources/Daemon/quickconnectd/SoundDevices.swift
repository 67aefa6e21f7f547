import ALSAAudio
import Concurrency
import Configuration
import Glibc
import Logging
import MediaFolder
import QuickConnect

/// The sound devices of the settings: real ones, or simulated ones.
struct SoundDevices {
    let player: ALSASoundPlayer
    let filePlayer: ALSAFilePlayer
    let recorder: ALSARecorder
    let library: ALSAMediaLibrary
    let transfers: MediaTransfers
    let volume: ALSAVolumeControl
    private let folder: MediaFolder
    private let owners: MediaOwners
    private let speaker: SimulatedSpeaker?
    private let account: OwnAccount
    private let mediaDoctor: MediaDoctor

    /// - Parameter sounds: the folder of system sounds; nil reads none.
    init(_ settings: Settings, sounds: String?, logger: Logger) {
        speaker = settings.simulate ? SimulatedSpeaker(folder: settings.simulatedFolder) : nil
        let output = speaker.map { ALSAOutput.simulated($0) } ?? .named(settings.pcm)
        let input = settings.simulate ? ALSAInput.simulated : .named(settings.capturePCM)
        folder = MediaFolder(path: settings.media)
        let loaded = sounds.map { SystemSounds.load(folder: $0, logger: logger) } ?? .none
        let recording = ALSARecorder.Settings(limit: settings.recordingLimit, reserve: settings.recordingReserve)
        player = ALSASoundPlayer(output: output, sounds: loaded, logger: logger)
        let accounts = SystemAccounts()
        owners = MediaOwners(
            folder,
            index: settings.mediaOwners,
            quota: MediaOwners.Quota(bytes: settings.quotaBytes, files: settings.quotaFiles),
            account: { accounts.knownName(ofUser: $0) },
            logger: logger
        )
        recorder = ALSARecorder(input: input, folder: folder, settings: recording, owners: owners, logger: logger)
        filePlayer = ALSAFilePlayer(folder: folder, mixedInto: player, writtenBy: recorder, logger: logger)
        library = ALSAMediaLibrary(folder: folder, player: filePlayer, recorder: recorder)
        transfers = MediaTransfers(
            folder,
            owners: owners,
            reserve: recording.diskReserve,
            scripts: Settings.scriptUser
        )
        volume = ALSAVolumeControl(output: output, logger: logger)
        account = OwnAccount(accounts)
        mediaDoctor = MediaDoctor(folder: folder, settings: recording, account: account)
    }

    /// The path of a file of the media folder. Blocks; throws `invalid` or `notFound`.
    func mediaPath(of name: String) throws(CommandError) -> String {
        let name = try MediaName(name, field: "/1")
        _ = try folder.open(name)
        return "\(folder.path)/\(name.text)"
    }

    var simulationNotes: [String] {
        guard let speaker else { return [] }
        return [
            "sound is simulated: what would be heard goes into WAV files in \(speaker.folder)",
            "the microphone is simulated: it hears a tone of 440 Hz",
        ]
    }

    /// Makes the media folder, so that its owner can put files there, reads whose they are, and recovers recordings that
    /// were cut off.
    func prepare(_ log: Logger) async {
        do throws(CommandError) { try folder.make() } catch { log.warning("\(error.message)") }
        await load()
        await recorder.recover()
    }

    /// The disk may be slow; the daemon continues without waiting.
    private func load() async {
        let promise = Promise<Void>()
        let code = PThread.start("qc-owners") { [owners] in
            owners.load()
            promise.fulfil(())
        }
        if code == 0 { _ = try? await promise.value(before: .now + .seconds(5)) }
    }

    var devices: [any Device] { [filePlayer, player, recorder] }
    var events: [any EventSource] { [filePlayer.events, recorder.events, volume.event] }

    func examined(_ environment: [String: String]) -> [any Examined] {
        let soundDoctor = SoundDoctor(
            player: player,
            recorder: recorder,
            environment: environment,
            account: account
        )
        return [soundDoctor, mediaDoctor]
    }

    func close() async {
        await recorder.close()
        filePlayer.close()
        await player.close()
        await transfers.close()
        await library.close()
        await volume.close()
    }
}

extension OwnAccount {
    init(_ accounts: SystemAccounts) {
        self.init(user: accounts.name(ofUser: geteuid()), groups: accounts.ownGroups)
    }
}
