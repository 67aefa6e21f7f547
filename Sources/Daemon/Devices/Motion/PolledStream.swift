import Concurrency
internal import Glibc
import Linux
internal import QuickConnect

/// Reads an accelerometer's values from sysfs, one by one.
final class PolledStream: MotionStream {
    let rate: Double
    private let sensor: Accelerometer
    private let conversion: Conversion
    private let obstacle: BufferObstacle
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
        (self.sensor, self.conversion, self.rate, self.obstacle) = (sensor, conversion, rate, obstacle)
        nextLook = obstacle.silentUntil ?? (BufferedStream.obstacle(of: sensor) == nil ? nil : .now + Self.lookEvery)
        // Drivers that wake their chip for each axis then wait up to two periods of this rate.
        _ = SamplingRate.set(rate * 8, in: sensor.folder)
        // If polling is impossible, too, this fails now.
        if obstacle.isBusy, !sensor.hasSingleValues(conversion) {
            throw CommandError(.busy, "\(sensor.description) is read by another program")
        }
    }

    var description: String { "\(sensor.description), polled: \(obstacle.text)" }
    var isWorse: Bool { obstacle.isSilent }

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

/// Chooses among the rates that a sensor offers.
struct SamplingRate {
    private enum Offer {
        case list([Double])
        /// From the first number to the second.
        case range(Double, Double)
    }

    private let offer: Offer?

    /// - Parameter available: the text of `sampling_frequency_available`: `10 50 100`, or `[minimum step maximum]`; nil
    ///   or anything else allows any rate.
    init(available: String?) {
        let text = available ?? ""
        let isRange = text.hasPrefix("[") && text.hasSuffix("]")
        let words = (isRange ? text.dropFirst().dropLast() : text[...]).split(separator: " ")
        let numbers = words.compactMap { Double(text: $0) }.filter { $0 > 0 }
        guard !numbers.isEmpty, numbers.count == words.count else {
            offer = nil
            return
        }
        if isRange {
            offer = numbers.count == 3 ? .range(numbers[0], numbers[2]) : nil
        } else {
            offer = .list(numbers.sorted())
        }
    }

    /// The lowest rate that is at least the wanted one, or else the highest.
    func choose(_ wanted: Double) -> Double {
        switch offer {
        case nil: wanted
        case .list(let rates): rates.first { $0 >= wanted } ?? rates.last ?? wanted
        case .range(let lowest, let highest): min(max(wanted, lowest), max(lowest, highest))
        }
    }

    /// Sets the rate of a sensor, if it has one that can be set.
    /// - Returns: the resulting rate; nil if the sensor does not report it.
    static func set(_ wanted: Double, in folder: SysfsFolder) -> Double? {
        let prefix = folder.has("in_accel_sampling_frequency") ? "in_accel_" : ""
        guard folder.has("\(prefix)sampling_frequency") else { return nil }
        let available = folder.text(ofFirst: [
            "\(prefix)sampling_frequency_available", "sampling_frequency_available",
        ])
        let rate = SamplingRate(available: available).choose(wanted)
        folder.writeIfPossible(text(rate), to: "\(prefix)sampling_frequency")
        return folder.number(ofFirst: ["\(prefix)sampling_frequency"]).flatMap { $0 > 0 ? $0 : nil }
    }

    /// A number in the form that the kernel reads: without an exponent, and without a point if it is whole.
    static func text(_ rate: Double) -> String {
        if let whole = Int(exactly: rate) { return "\(whole)" }
        let millionths = Int((min(rate, 1e9) * 1e6).rounded())
        let fraction = String(millionths % 1_000_000)
        return "\(millionths / 1_000_000)." + String(repeating: "0", count: 6 - fraction.count) + fraction
    }
}
