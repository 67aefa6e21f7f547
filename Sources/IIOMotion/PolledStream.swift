internal import Glibc
import Linux
internal import QuickConnect

/// Reads an accelerometer's values from sysfs, one by one.
final class PolledStream: MotionStream {
    let rate: Double
    private let sensor: Accelerometer
    private let conversion: Conversion
    private let reason: String
    private var due = ContinuousClock.now

    /// - Parameter obstacle: why its buffer is not used.
    init(
        _ sensor: Accelerometer,
        _ conversion: Conversion,
        rate: Double,
        _ obstacle: BufferObstacle
    ) throws(CommandError) {
        (self.sensor, self.conversion, self.rate, reason) = (sensor, conversion, rate, obstacle.text)
        // What is not there for polling either fails now.
        if obstacle.isBusy, !sensor.folder.has("in_accel_x_\(conversion.attribute)") {
            throw CommandError(.busy, "\(sensor.description) is read by another program")
        }
    }

    var description: String { "\(sensor.description), polled: \(reason)" }

    func next(_ waker: Waker, until end: ContinuousClock.Instant) throws(CommandError) -> Acceleration? {
        if ContinuousClock.now < due { _ = waker.sleep(until: min(due, end)) }
        let now = ContinuousClock.now
        guard now >= due else { return nil }
        let period = Duration.seconds(1 / rate)
        // One that comes late moves the ones behind it: they are not made up for.
        due = due + period < now ? now + period : due + period
        do throws(SystemCallError) { return conversion.acceleration(try sensor.read(conversion)) } catch {
            throw CommandError(reading: sensor, error)
        }
    }
}

extension CommandError {
    /// A sensor that could not be read.
    init(reading sensor: Accelerometer, _ error: SystemCallError) {
        let isBusy = error.code == EBUSY
        let says = isBusy ? "is read by another program" : "cannot be read"
        self.init(isBusy ? .busy : .unavailable, "\(sensor.description) \(says): \(error)")
    }
}
