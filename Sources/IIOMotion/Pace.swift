/// Gives each subscriber's rate its share of a sensor's values, which come at the fastest of them or faster.
struct Pace {
    /// When the next value is due for those who want so many a second.
    private var due: [Double: ContinuousClock.Instant] = [:]

    /// The rates that get a value which comes now.
    /// - Parameters:
    ///   - rates: those that are wanted, in values a second.
    ///   - sensorRate: how many come.
    mutating func take(at now: ContinuousClock.Instant, _ rates: Set<Double>, from sensorRate: Double) -> Set<Double> {
        due = due.filter { rates.contains($0.key) }
        // One that comes a little early is the one that is due: the next would be late by more.
        let tolerance = Duration.seconds(0.5 / sensorRate)
        let chosen = rates.filter { rate in due[rate].map { now + tolerance >= $0 } ?? true }
        for rate in chosen {
            let interval = Duration.seconds(1 / rate)
            let next = (due[rate] ?? now) + interval
            // What was missed is not made up for.
            due[rate] = next > now ? next : now + interval
        }
        return chosen
    }
}
