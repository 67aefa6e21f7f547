import Configuration
import Glibc
import JSON
import Linux
import Logging
import Pins
import QuickConnect
import Readers

/// What mappings bind to hardware: values to lines, lights and sensors, and events to what people type and press.
struct DeclaredHardware: Sendable {
    let values: BoundHardware
    let events: InputEvents
    /// What a person may move by hand.
    let simulated: SimulatedHardware

    /// The longest text of a recorded track.
    private static let maxTrack = 16 << 20

    init(_ devices: Devices, _ router: Router, logger: Logger) {
        let hand = devices.pins as? SimulatedPins
        let folder = hand == nil ? "/dev" : nil
        values = BoundHardware(devices.pins, folder: folder, router.values, router.events, logger: logger)
        let folders = hand == nil ? InputFolders(ownUser: SystemAccounts().name(ofUser: geteuid())) : nil
        let events = InputEvents(folders, router.values, router.events, logger: logger)
        self.events = events
        simulated = SimulatedHardware(
            names: { (hand?.names ?? []) + events.names },
            simulate: { name, value throws(CommandError) in
                if let moved = try hand?.simulate(name, value) { return moved }
                return try events.simulate(name, value)
            },
            followers: { hand?.names ?? [] },
            follow: { name, path, track throws(CommandError) in
                let read = FileText.read(path, maximumBytes: Self.maxTrack)
                let text = try read.mapError { CommandError(.invalid, "\(track) \($0.message)") }.get()
                return try hand?.follow(name, text, named: track)
            }
        )
    }

    /// Takes up what a table declares.
    func adopt(_ table: MappingTable) {
        values.adopt(table)
        events.adopt(table)
    }

    /// - Parameter startsAtBoot: whether the service starts with the machine.
    func examined(startsAtBoot: @escaping @Sendable () -> Bool) -> [any Examined] {
        [
            HardwareDoctor(hardware: values, startsAtBoot: startsAtBoot),
            InputDoctor(events: events, startsAtBoot: startsAtBoot),
        ]
    }

    /// Every output returns to its default, and the readers are free.
    func close() async {
        await values.close()
        await events.close()
    }
}
