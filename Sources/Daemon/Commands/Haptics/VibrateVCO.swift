import Concurrency
import QuickConnect

/// `vibrate [milliseconds, …]`: plays the pattern on the device's motor, and replies when it is over. `0` and an empty
/// pattern end the vibration that the caller's user has started. A vibration ends with its call, and so with its
/// connection.
struct VibrateVCO: WaitingVCO {
    let touchesDevice = true
    private let haptics: any Haptics
    private let permissions: Permissions

    init(_ haptics: any Haptics, _ permissions: Permissions) {
        self.haptics = haptics
        self.permissions = permissions
    }

    func show(_ call: borrowing Call) throws(CommandError) -> Awaited<ViewOutcome> {
        let pattern = try call.handedOn(or: VibrationPattern.init)
        guard !pattern.isEmpty else {
            haptics.stop(mayEnd: permissions.mayEnd(call.caller))
            return .now(.proceed)
        }
        return haptics.outcome(of: pattern, for: call.caller)
    }
}

extension Haptics {
    /// What a command object awaits while the device vibrates.
    func outcome(of pattern: VibrationPattern, for caller: Caller) -> Awaited<ViewOutcome> {
        let vibration = vibrate(pattern, for: caller)
        let outcome = Promise<ViewOutcome>()
        vibration.whenSettled { outcome.settle($0.map { .proceed }) }
        return .promise(outcome, onCancel: { end(vibration) })
    }
}
