import JSON
import QuickConnect

/// `hardware`: what this machine has that values can be bound to: `{"gpio", "leds", "pwm", "sensors", "refused"}`, as
/// docs/hardware.md describes it.
struct HardwareBCO: WaitingBCO {
    let touchesDevice = true
    let look: @Sendable () async -> JSONValue

    func handle(_ call: borrowing Call) throws(CommandError) -> Awaited<BusinessOutcome> {
        .wait { () async throws(CommandError) in .result(await look()) }
    }
}
