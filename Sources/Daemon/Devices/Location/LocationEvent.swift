package import JSON
package import QuickConnect
internal import Synchronization

/// The event `location`: sends each change of the position once, as ``Position/json(at:)`` with `"sequence"`, which
/// counts the changes, and `"previous"`, the position before in the same form, or null.
///
/// Option `maximumAge`: milliseconds, as in the W3C's API; older positions are not sent. Default 5000; null: any; 0: new
/// ones, which is the default, because no position comes in no time.
package final class LocationEvent: EventSource {
    private struct State {
        weak var provider: GPSDLocationProvider?
        var hub: EventHub?
        var sequence: Int64 = 0
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
            (state.hub, state.previous) = (hub, nil)
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

    /// - Parameter now: the time in seconds since 1970.
    func publish(_ position: Position, at now: Double) {
        let change = state.withLock { state -> (hub: EventHub, sequence: Int64, previous: Position?)? in
            guard let hub = state.hub else { return nil }
            if let previous = state.previous, previous.isSamePlace(as: position) { return nil }
            state.sequence += 1
            defer { state.previous = position }
            return (hub, state.sequence, state.previous)
        }
        guard let change else { return }
        var value = position.json(at: now)
        value["sequence"] = .integer(change.sequence)
        value["previous"] = change.previous.map { .object($0.json(at: now)) } ?? .null
        let age = abs(position.age(at: now))
        change.hub.publish(Event(name, .object(value), kind: .sensor)) { options in
            age <= Self.maximumAge(options)
        }
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
