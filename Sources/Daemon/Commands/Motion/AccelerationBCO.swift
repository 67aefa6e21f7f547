import JSON
import QuickConnect

/// `accel`: waits for one value of the accelerometer, `{"x", "y", "z"}` in g. The event of the same name delivers all
/// values.
struct AccelerationBCO: WaitingBCO {
    let touchesDevice = true
    let sensor: any MotionSensor

    func handle(_ call: borrowing Call) throws(CommandError) -> Awaited<BusinessOutcome> {
        let caller = call.caller
        return .wait { () async throws(CommandError) in
            .result(.object(try await sensor.acceleration(for: caller).json))
        }
    }
}
