import JSON
import QuickConnect

/// `stop`: ends at once all sound, recording and vibration that the caller may end: those of its own user, or
/// everybody's for root.
struct StopBCO: BCO {
    let touchesDevice = true
    private let devices: [any Device]
    private let permissions: Permissions

    init(_ devices: [any Device], _ permissions: Permissions) {
        self.devices = devices
        self.permissions = permissions
    }

    func handle(_ call: borrowing Call) throws(CommandError) -> BusinessOutcome {
        let mayEnd = permissions.mayEnd(call.caller)
        for device in devices { device.stop(mayEnd: mayEnd) }
        return .result(.null)
    }
}
