import Configuration
import EvdevHaptics
import Glibc
import Logging
import QuickConnect

/// The motor: that of the settings or of this device, or one that only records what it would do.
struct HapticsDevices {
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

    /// What is simulated, a sentence each.
    var simulationNotes: [String] { record.map { ["vibration is simulated: the motor writes to \($0)"] } ?? [] }

    var examined: [any Examined] { [HapticsDoctor(haptics)] }

    func close() async { await haptics.close() }
}
