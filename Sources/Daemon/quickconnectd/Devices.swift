import AvahiBrowsing
import Commands
import Configuration
import EvdevHaptics
import GPSDLocation
import Glibc
import IIOMotion
import JSON
import Logging
import Pins
import QuickConnect
import Readers

/// What belongs to a device of this daemon, real or simulated.
struct DevicePart {
    /// What `state` shows and `stop` ends.
    let device: any Device
    var events: [any EventSource] = []
    /// What the doctor checks.
    let examined: any Examined
    /// What a person may move by hand; nil for a real sensor.
    var simulated: SimulatedInput?
    /// What is simulated, as a sentence; nil: nothing.
    let simulationNote: String?
    let close: @Sendable () async -> Void
}

/// All devices of the settings.
struct Devices: CommandDevices {
    let sound: SoundDevices
    let locationProvider: any LocationProvider
    let haptics: any Haptics
    let motionSensor: any MotionSensor
    let serviceBrowser: any ServiceBrowser
    /// What values are bound to.
    let pins: any BoundPins
    /// All but sound.
    private let parts: [DevicePart]
    private let inventory: HardwareInventory

    /// - Parameter sounds: the folder of system sounds; nil reads none.
    init(_ settings: Settings, sounds: String?, logger: (String) -> Logger) {
        sound = SoundDevices(settings, sounds: sounds, logger: logger("sound"))
        let location = Self.location(settings, logger("location"))
        let vibration = Self.vibration(settings, logger("vibration"))
        let motion = Self.motion(settings, logger("motion"))
        let nearby = Self.nearby(settings, logger("nearby"))
        (locationProvider, haptics, motionSensor, serviceBrowser) = (location.0, vibration.0, motion.0, nearby.0)
        parts = [location.1, vibration.1, motion.1, nearby.1]
        pins = settings.simulate ? SimulatedPins() : KernelPins()
        inventory = HardwareInventory(inputs: { InputFolders().names })
    }

    /// What `--simulate` simulates, with the names that `hello` has.
    static let simulated = ["sound", "location", "vibration", "motion", "nearby"]

    var soundPlayer: any SoundPlayer { sound.player }
    var filePlayer: any FilePlayer { sound.filePlayer }
    var recorder: any Recorder { sound.recorder }
    var mediaLibrary: any MediaLibrary { sound.library }
    var mediaTransfer: any MediaTransfer { sound.transfers }
    var volumeControl: any VolumeControl { sound.volume }

    var simulationNotes: [String] { sound.simulationNotes + parts.compactMap(\.simulationNote) }
    var all: [any Device] { sound.devices + parts.map(\.device) }
    var simulatedInputs: [SimulatedInput] { parts.reversed().compactMap(\.simulated) }
    var events: [any EventSource] { sound.events + parts.flatMap(\.events) }

    func hardware() async -> JSONValue { await inventory.look() }

    func mediaPath(of name: String) throws(CommandError) -> String { try sound.mediaPath(of: name) }

    func examined(_ environment: [String: String]) -> [any Examined] {
        sound.examined(environment) + parts.map(\.examined)
    }

    /// Sound last: recordings are completed, which takes longest.
    func close() async {
        for part in parts.reversed() { await part.close() }
        await sound.close()
    }
}

extension Devices {
    /// The source of the position: gpsd, or a recorded track.
    private static func location(_ settings: Settings, _ logger: Logger) -> (any LocationProvider, DevicePart) {
        let simulated = settings.simulate ? GPSDLocationProvider.position(track: settings.track) : nil
        let (host, port) = (settings.gpsd.host, settings.gpsd.port)
        let provider =
            simulated.map { GPSDLocationProvider(simulated: $0, logger: logger) }
            ?? GPSDLocationProvider(host: host, port: port, logger: logger)
        let part = DevicePart(
            device: provider,
            events: [provider.event],
            examined: simulated.map { LocationDoctor(simulated: $0) } ?? LocationDoctor(host: host, port: port),
            simulated: simulated,
            simulationNote: simulated.map { "the position is simulated: it is that of the track \($0.track)" },
            close: provider.close
        )
        return (provider, part)
    }

    /// The motor: that of the settings or of this device, or one that only records what it would do.
    private static func vibration(_ settings: Settings, _ logger: Logger) -> (any Haptics, DevicePart) {
        let record = settings.simulate ? "\(settings.simulatedFolder)/vibration.jsonl" : nil
        let accounts = AccountNames(
            group: { SystemAccounts().name(ofGroup: $0) },
            ownUser: { SystemAccounts().name(ofUser: geteuid()) }
        )
        let haptics =
            record.map { EvdevHaptics(simulatedIn: $0, logger: logger) }
            ?? EvdevHaptics(device: settings.vibrationDevice, accounts: accounts, logger: logger)
        let note = record.map { "vibration is simulated: the motor writes to \($0)" }
        return (haptics, DevicePart(device: haptics, examined: haptics, simulationNote: note, close: haptics.close))
    }

    /// The source of motion: the accelerometer, or a recorded motion.
    private static func motion(_ settings: Settings, _ logger: Logger) -> (any MotionSensor, DevicePart) {
        let simulated = settings.simulate ? IIOMotionSensor.tilt(track: settings.motionTrack) : nil
        let matrix = settings.motionMatrix.flatMap { Matrix($0) }
        let sensor =
            simulated.map { IIOMotionSensor(simulated: $0, matrix: matrix, logger: logger) }
            ?? IIOMotionSensor(device: settings.motionDevice, matrix: matrix, logger: logger)
        let part = DevicePart(
            device: sensor,
            events: [sensor.event],
            examined: sensor,
            simulated: simulated,
            simulationNote: simulated.map { "the motion is simulated: it is that of the track \($0.track)" },
            close: sensor.close
        )
        return (sensor, part)
    }

    /// The source of services nearby: Avahi, or a simulated network.
    private static func nearby(_ settings: Settings, _ logger: Logger) -> (any ServiceBrowser, DevicePart) {
        let browser = AvahiBrowser(isSimulated: settings.simulate, logger: logger)
        let note = "the services nearby are simulated: a camera, and a printer that comes and goes"
        let part = DevicePart(
            device: browser,
            events: [browser.event],
            examined: browser,
            simulationNote: settings.simulate ? note : nil,
            close: browser.close
        )
        return (browser, part)
    }
}
