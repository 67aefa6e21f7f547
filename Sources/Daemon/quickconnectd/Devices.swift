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

/// A device of this daemon, real or simulated, with what belongs to it.
protocol DevicePart: Sendable {
    /// What is simulated, a sentence each.
    var simulationNotes: [String] { get }
    /// What a person may move by hand; nil for a real sensor.
    var simulated: SimulatedInput? { get }
    /// What `state` shows and `stop` ends.
    var devices: [any Device] { get }
    var events: [any EventSource] { get }

    /// What the doctor checks.
    func examined(_ environment: [String: String]) -> [any Examined]
    func close() async
}

extension DevicePart {
    var simulated: SimulatedInput? { nil }
    var events: [any EventSource] { [] }
}

/// All devices of the settings.
struct Devices: CommandDevices {
    let sound: SoundDevices
    let location: LocationDevices
    let vibration: HapticsDevices
    let motion: MotionDevices
    let nearby: NearbyDevices
    /// What values are bound to.
    let pins: any BoundPins
    private let inventory: HardwareInventory

    /// - Parameter sounds: the folder of system sounds; nil reads none.
    init(_ settings: Settings, sounds: String?, logger: (String) -> Logger) {
        sound = SoundDevices(settings, sounds: sounds, logger: logger("sound"))
        location = LocationDevices(settings, logger: logger("location"))
        vibration = HapticsDevices(settings, logger: logger("vibration"))
        motion = MotionDevices(settings, logger: logger("motion"))
        nearby = NearbyDevices(settings, logger: logger("nearby"))
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
    var locationProvider: any LocationProvider { location.provider }
    var volumeControl: any VolumeControl { sound.volume }
    var haptics: any Haptics { vibration.haptics }
    var motionSensor: any MotionSensor { motion.sensor }
    var serviceBrowser: any ServiceBrowser { nearby.browser }

    private var parts: [any DevicePart] { [sound, location, vibration, motion, nearby] }

    var simulationNotes: [String] { parts.flatMap(\.simulationNotes) }
    var all: [any Device] { parts.flatMap(\.devices) }
    var simulatedInputs: [SimulatedInput] { parts.reversed().compactMap(\.simulated) }
    var events: [any EventSource] { parts.flatMap(\.events) }

    func hardware() async -> JSONValue { await inventory.look() }

    func mediaPath(of name: String) throws(CommandError) -> String { try sound.mediaPath(of: name) }

    func examined(_ environment: [String: String]) -> [any Examined] { parts.flatMap { $0.examined(environment) } }

    /// Sound last: recordings are completed, which takes longest.
    func close() async {
        for part in parts.reversed() { await part.close() }
    }
}

/// The source of the position: gpsd, or a recorded track.
struct LocationDevices: DevicePart {
    let provider: GPSDLocationProvider
    private let doctor: LocationDoctor
    let simulated: SimulatedInput?

    init(_ settings: Settings, logger: Logger) {
        simulated = settings.simulate ? GPSDLocationProvider.position(track: settings.track) : nil
        let (host, port) = (settings.gpsd.host, settings.gpsd.port)
        provider =
            simulated.map { GPSDLocationProvider(simulated: $0, logger: logger) }
            ?? GPSDLocationProvider(host: host, port: port, logger: logger)
        doctor = simulated.map { LocationDoctor(simulated: $0) } ?? LocationDoctor(host: host, port: port)
    }

    var devices: [any Device] { [provider] }
    var simulationNotes: [String] {
        simulated.map { ["the position is simulated: it is that of the track \($0.track)"] } ?? []
    }

    var events: [any EventSource] { [provider.event] }
    func examined(_ environment: [String: String]) -> [any Examined] { [doctor] }

    func close() async { await provider.close() }
}

/// The motor: that of the settings or of this device, or one that only records what it would do.
struct HapticsDevices: DevicePart {
    let haptics: EvdevHaptics
    private let record: String?

    init(_ settings: Settings, logger: Logger) {
        record = settings.simulate ? "\(settings.simulatedFolder)/vibration.jsonl" : nil
        let accounts = AccountNames(
            group: { SystemAccounts().name(ofGroup: $0) },
            ownUser: { SystemAccounts().name(ofUser: geteuid()) }
        )
        haptics =
            record.map { EvdevHaptics(simulatedIn: $0, logger: logger) }
            ?? EvdevHaptics(device: settings.vibrationDevice, accounts: accounts, logger: logger)
    }

    var devices: [any Device] { [haptics] }
    var simulationNotes: [String] { record.map { ["vibration is simulated: the motor writes to \($0)"] } ?? [] }

    func examined(_ environment: [String: String]) -> [any Examined] { [haptics] }

    func close() async { await haptics.close() }
}

/// The source of motion: the accelerometer, or a recorded motion.
struct MotionDevices: DevicePart {
    let sensor: IIOMotionSensor
    let simulated: SimulatedInput?

    init(_ settings: Settings, logger: Logger) {
        simulated = settings.simulate ? IIOMotionSensor.tilt(track: settings.motionTrack) : nil
        let matrix = settings.motionMatrix.flatMap { Matrix($0) }
        sensor =
            simulated.map { IIOMotionSensor(simulated: $0, matrix: matrix, logger: logger) }
            ?? IIOMotionSensor(device: settings.motionDevice, matrix: matrix, logger: logger)
    }

    var devices: [any Device] { [sensor] }
    var simulationNotes: [String] {
        simulated.map { ["the motion is simulated: it is that of the track \($0.track)"] } ?? []
    }

    var events: [any EventSource] { [sensor.event] }
    func examined(_ environment: [String: String]) -> [any Examined] { [sensor] }

    func close() async { await sensor.close() }
}

/// The source of services nearby: Avahi, or a simulated network.
struct NearbyDevices: DevicePart {
    let browser: AvahiBrowser
    private let isSimulated: Bool

    init(_ settings: Settings, logger: Logger) {
        isSimulated = settings.simulate
        browser = AvahiBrowser(isSimulated: settings.simulate, logger: logger)
    }

    var devices: [any Device] { [browser] }
    var simulationNotes: [String] {
        isSimulated ? ["the services nearby are simulated: a camera, and a printer that comes and goes"] : []
    }

    var events: [any EventSource] { [browser.event] }
    func examined(_ environment: [String: String]) -> [any Examined] { [browser] }

    func close() async { await browser.close() }
}
