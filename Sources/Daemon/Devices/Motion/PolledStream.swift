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
    /// When to look again whether its buffer can be used; nil: never, since nothing that can be seen forbids it now.
    private var nextLook: ContinuousClock.Instant?
    private static let lookEvery = Duration.seconds(2)
    /// The axes read so far for the next value.
    private var axes: [Double] = []

    /// - Parameter obstacle: why its buffer is not used.
    init(
        _ sensor: Accelerometer,
        _ conversion: Conversion,
        rate: Double,
        _ obstacle: BufferObstacle
    ) throws(CommandError) {
        (self.sensor, self.conversion, self.rate, reason) = (sensor, conversion, rate, obstacle.text)
        nextLook = BufferedStream.obstacle(of: sensor) == nil ? nil : .now + Self.lookEvery
        // Drivers that wake their chip for each axis then wait up to two periods of this rate.
        _ = SamplingRate.set(rate * 8, in: sensor.folder)
        // If polling is impossible, too, this fails now.
        if obstacle.isBusy, !sensor.folder.has("in_accel_x_\(conversion.attribute)") {
            throw CommandError(.busy, "\(sensor.description) is read by another program")
        }
    }

    var description: String { "\(sensor.description), polled: \(reason)" }

    /// The udev rule that gives the buffer to this process may come after the sensor.
    var isOutdated: Bool {
        guard let time = nextLook, time <= .now else { return false }
        nextLook = .now + Self.lookEvery
        return BufferedStream.obstacle(of: sensor) == nil
    }

    func next(_ waker: Waker, until end: ContinuousClock.Instant) throws(CommandError) -> Acceleration? {
        if ContinuousClock.now < due { _ = waker.sleep(until: min(due, end)) }
        guard ContinuousClock.now >= due else { return nil }
        do throws(SystemCallError) { axes.append(try sensor.read(axis: axes.count, conversion)) } catch {
            throw CommandError(reading: sensor, error)
        }
        guard axes.count == 3 else { return nil }
        defer { axes = [] }
        // A late value delays the following ones; they are not made up for.
        due = max(due + .seconds(1 / rate), .now)
        return conversion.acceleration(Vector(axes))
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
