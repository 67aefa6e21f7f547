package import JSON
package import QuickConnect
internal import Synchronization

/// The event `accel`: the acceleration as ``Acceleration/json``, at the rate that each subscriber requests.
///
/// Option `rate`: values per second, 0.1 to 200. Default 10. The sensor runs at the fastest requested rate, or slower
/// if it cannot.
package final class AccelerationEvent: EventSource {
    private struct State {
        weak var sensor: IIOMotionSensor?
        var hub: EventHub?
        var rates: Set<Double> = []
        var pace = Pace()
    }

    package let name = "accel"
    private let state = Mutex(State())

    static let defaultRate = 10.0
    private static let rates = 0.1...200.0

    func setSensor(_ sensor: IIOMotionSensor) { state.withLock { $0.sensor = sensor } }

    package func check(options: JSONObject) throws(CommandError) {
        for (name, value) in options {
            guard name == "rate" else {
                throw CommandError(.invalid, "the event 'accel' takes the option rate, not '\(name.shortened)'")
            }
            guard value == .null || value.numberValue.map(Self.rates.contains) ?? false else {
                throw CommandError(.invalid, "rate is a number of values a second, from 0.1 to 200")
            }
        }
        try state.withLock({ $0.sensor })?.check()
    }

    package func start(publishingTo hub: EventHub) {
        state.withLock { $0.hub = hub }
        subscribersChanged()
    }

    package func subscribersChanged() {
        let sensor = state.withLock { state in
            guard let hub = state.hub else { return state.sensor }
            state.rates = Set(hub.options(of: name).map(Self.rate))
            return state.sensor
        }
        sensor?.wantedChanged()
    }

    package func stop() {
        let sensor = state.withLock { state in
            (state.hub, state.rates, state.pace) = (nil, [], Pace())
            return state.sensor
        }
        sensor?.wantedChanged()
    }

    /// The fastest requested rate; nil if nobody subscribes.
    var fastestRate: Double? { state.withLock { $0.hub == nil ? nil : $0.rates.max() ?? Self.defaultRate } }

    /// - Parameter rate: how many values per second the sensor delivers.
    func publish(_ acceleration: Acceleration, rate: Double) {
        let (hub, chosen) = state.withLock { state in
            (state.hub, state.pace.take(at: .now, state.rates, from: rate))
        }
        guard let hub, !chosen.isEmpty else { return }
        let event = Event(name, .object(acceleration.json), kind: .sensor)
        hub.publish(event) { chosen.contains(Self.rate($0)) }
    }

    /// The next value is due for everybody.
    func restartPace() { state.withLock { $0.pace = Pace() } }

    private static func rate(_ options: JSONObject) -> Double { options["rate"]?.numberValue ?? defaultRate }
}
