import Concurrency
internal import QuickConnect

/// A source of motion.
protocol MotionSource: Sendable {
    /// Such as `the accelerometer`.
    var description: String { get }

    /// Throws `unsupported`, with what was checked, if there is no motion sensor. Does not block.
    func check() throws(CommandError)

    /// Switches the sensor on. May block: only on a watched thread. Fails with `unsupported`, `unavailable` or `busy`.
    /// - Parameter rate: values per second. The stream may deliver more, but not much less if the sensor can do it.
    func open(rate: Double) throws(CommandError) -> any MotionStream

    /// The doctor's finding. As for ``open(rate:)``.
    /// - Parameter goesOn: called between calls to a driver.
    func examine(_ goesOn: () -> Void) -> Finding
}

/// A sensor that is on. It is switched off with the last reference. Used by one thread at a time.
protocol MotionStream: AnyObject {
    /// A sentence for the log: which sensor it is, and how it is read.
    var description: String { get }
    /// Values per second.
    var rate: Double { get }
    /// Whether it is read in a worse way than the sensor promises.
    var isWorse: Bool { get }
    /// Whether there is a better way to read the sensor by now: it is opened again then. May block.
    var isOutdated: Bool { get }

    /// Sleeps until the next value. Work that needs several calls to the driver is spread over several calls of this
    /// function, so that each stays within the deadline.
    /// - Returns: nil if the waker was used, the time came, or only a part of the value is there yet.
    func next(_ waker: Waker, until end: ContinuousClock.Instant) throws(CommandError) -> Acceleration?
}

extension MotionStream {
    var isWorse: Bool { false }
    var isOutdated: Bool { false }
}

/// Thins a sensor's values to each subscriber's rate. The sensor runs at the fastest of these rates or faster.
struct Pace {
    /// For each rate, when its next value is due.
    private var due: [Double: ContinuousClock.Instant] = [:]

    /// The rates for which a value that comes now is due.
    /// - Parameters:
    ///   - rates: the requested rates, in values per second.
    ///   - sensorRate: the rate of the sensor, in values per second.
    mutating func take(at now: ContinuousClock.Instant, _ rates: Set<Double>, from sensorRate: Double) -> Set<Double> {
        due = due.filter { rates.contains($0.key) }
        // A value that comes slightly early counts as the due one: the next would be further off.
        let tolerance = Duration.seconds(0.5 / sensorRate)
        let chosen = rates.filter { rate in due[rate].map { now + tolerance >= $0 } ?? true }
        for rate in chosen {
            let interval = Duration.seconds(1 / rate)
            let next = (due[rate] ?? now) + interval
            // Missed values are not made up for.
            due[rate] = next > now ? next : now + interval
        }
        return chosen
    }
}
