import JSON
import QuickConnect

/// `stop`: ends, at once, all sound, recording and vibration that the caller may end: its own user's, and for root
/// everybody's.
struct StopBCO: CommandObject {
    let phase = Phase.business
    let touchesDevice = true
    private let devices: [any Device]

    init(_ devices: [any Device]) { self.devices = devices }

    func handle(_ call: borrowing Call) throws(CommandError) -> Outcome {
        let mayEnd = call.session.frontController.mayEnd(call.caller)
        for device in devices { device.stop(mayEnd: mayEnd) }
        return .result(.null)
    }
}
