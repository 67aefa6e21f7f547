import Configuration
import Logging
import QuickConnect

/// All devices of the settings.
struct Devices {
    let sound: SoundDevices
    let location: LocationDevices
    let haptics: HapticsDevices
    let motion: MotionDevices
    let nearby: NearbyDevices

    /// - Parameter sounds: the folder of system sounds; nil reads none.
    init(_ settings: Settings, sounds: String?, logger: (String) -> Logger) {
        sound = SoundDevices(settings, sounds: sounds, logger: logger("sound"))
        location = LocationDevices(settings, logger: logger("location"))
        haptics = HapticsDevices(settings, logger: logger("vibration"))
        motion = MotionDevices(settings, logger: logger("motion"))
        nearby = NearbyDevices(settings, logger: logger("nearby"))
    }

    /// What `--simulate` simulates, with the names that `hello` has.
    static let simulated = ["sound", "location", "vibration", "motion", "nearby"]

    var simulationNotes: [String] {
        sound.simulationNotes + location.simulationNotes + haptics.simulationNotes + motion.simulationNotes
            + nearby.simulationNotes
    }

    var all: [any Device] {
        [
            sound.filePlayer, sound.player, sound.recorder, haptics.haptics, location.provider, motion.sensor,
            nearby.browser,
        ]
    }

    var simulatedInputs: [SimulatedInput] { [motion.simulated, location.simulated].compactMap(\.self) }
    var events: [any EventSource] { sound.events + location.events + motion.events + nearby.events }

    func examined(_ environment: [String: String]) -> [any Examined] {
        sound.examined(environment) + location.examined + haptics.examined + motion.examined + nearby.examined
    }

    func close() async {
        await haptics.close()
        await motion.close()
        await nearby.close()
        await location.close()
        await sound.close()
    }
}
