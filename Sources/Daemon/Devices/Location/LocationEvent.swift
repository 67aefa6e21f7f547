package import JSON
package import QuickConnect
internal import Synchronization

/// The event `location`: sends each change of the position once, as ``Position/json(at:)`` with `"sequence"`, which
/// counts the changes, and `"previous"`, the position before in the same form, or null. A change is another place, or an
/// accuracy twice as good or half. A newcomer is told the next position, wherever that is.
///
/// Option `maximumAge`: milliseconds, as in the W3C's API; older positions are not sent. Default 5000; null: any; 0: new
/// ones, which is the default, because no position comes in no time.
package final class LocationEvent: EventSource {
    private struct State {
        weak var provider: GPSDLocationProvider?
        var hub: EventHub?
        var sequence: Int64 = 0
        /// The first position of the last change, and of the one before. Small steps from it add up to a change.
        var change: Position?
        var previous: Position?
    }

    package let name = "location"
    private let state = Mutex(State())

    func setProvider(_ provider: GPSDLocationProvider) { state.withLock { $0.provider = provider } }

    package func check(options: JSONObject) throws(CommandError) {
        for (name, value) in options {
            guard name == "maximumAge" else {
                throw CommandError(.invalid, "the event 'location' takes the option maximumAge, not '\(name)'")
            }
            guard value == .null || (value.numberValue ?? -1) >= 0 else {
                throw CommandError(.invalid, "maximumAge is a number of milliseconds, or null for any age")
            }
        }
    }

    package func start(publishingTo hub: EventHub) {
        let provider = state.withLock { state in
            (state.hub, state.change, state.previous) = (hub, nil, nil)
            return state.provider
        }
        provider?.setSubscribed(true)
    }

    package func stop() {
        let provider = state.withLock { state in
            state.hub = nil
            return state.provider
        }
        provider?.setSubscribed(false)
    }

    /// Tells a position to those who do not know it yet: also to a newcomer while the device stands still.
    /// - Parameter now: the time in seconds since 1970.
    func publish(_ position: Position, at now: Double) {
        let state = state.withLock { state in
            guard state.hub != nil, state.change?.isSamePlace(as: position) != true else { return state }
            state.sequence += 1
            (state.change, state.previous) = (position, state.change)
            return state
        }
        let age = abs(position.age(at: now))
        func event() -> Event {
            var value = position.json(at: now)
            value["sequence"] = .integer(state.sequence)
            value["previous"] = state.previous.map { .object($0.json(at: now)) } ?? .null
            return Event(name, .object(value), kind: .sensor)
        }
        state.hub?.publish(change: state.sequence, event(), named: name) { age <= Self.maximumAge($0) }
    }

    /// In seconds.
    private static func maximumAge(_ options: JSONObject) -> Double {
        switch options["maximumAge"] {
        case nil: PositionWish.freshness
        case .null?: .infinity
        case let age?: age.numberValue == 0 ? PositionWish.freshness : (age.numberValue ?? 0) / 1000
        }
    }
}
