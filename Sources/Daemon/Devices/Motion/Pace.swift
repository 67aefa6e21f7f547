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
