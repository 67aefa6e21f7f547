public import JSON
import Synchronization

/// A device's event, such as a sensor's values. Runs only while somebody subscribes to it.
public protocol EventSource: Sendable {
    /// The event's name.
    var name: String { get }

    /// Why the options do not fit, as `invalid`, or the device cannot, as `unsupported` or `unavailable`.
    func check(options: JSONObject) throws(CommandError)

    /// The first subscriber came. The hub holds its lock: must not block, nor call the hub before it returns.
    func start(publishingTo hub: EventHub)

    /// The last subscriber went. As for `start`.
    func stop()
}

/// Who gets which events.
public final class EventHub: Sendable {
    private struct Subscription {
        let session: Session
        var form: WireForm
        var options: JSONObject
    }

    private struct State {
        var sources: [String: any EventSource] = [:]
        var subscriptions: [String: [ObjectIdentifier: Subscription]] = [:]
    }

    /// The event that tells a slow client how many values it missed.
    public static let dropped = "dropped"
    /// The names of device events, whether this device has them or not: no client can post under them.
    public static let deviceEvents: Set<String> = ["playState", "recState", "location", "accel", dropped]

    private let state = Mutex(State())

    init() {}

    /// Adds a device's event. Done while the daemon starts.
    public func add(_ source: any EventSource) {
        state.withLock { $0.sources[source.name] = source }
    }

    /// Subscribes a connection to all of the events, or, where one of them cannot be, to none.
    public func subscribe(
        _ session: Session,
        to names: [String],
        options: JSONObject,
        form: WireForm
    ) throws(CommandError) {
        for name in names { try check(name, options: options) }
        state.withLock { state in
            guard !session.isClosed else { return }
            for name in names {
                let isFirst = state.subscriptions[name, default: [:]].isEmpty
                state.subscriptions[name, default: [:]][ObjectIdentifier(session)] = Subscription(
                    session: session,
                    form: form,
                    options: options
                )
                if isFirst { state.sources[name]?.start(publishingTo: self) }
            }
        }
    }

    private func check(_ name: String, options: JSONObject) throws(CommandError) {
        if let source = state.withLock({ $0.sources[name] }) {
            try source.check(options: options)
        } else if Self.deviceEvents.contains(name), name != Self.dropped {
            throw CommandError(.unsupported, "this device has no event '\(name)'")
        } else if !options.isEmpty {
            throw CommandError(.invalid, "the event '\(name)' takes no options")
        }
    }

    public func unsubscribe(_ session: Session, from names: [String]) {
        state.withLock { state in
            for name in names { Self.unsubscribe(ObjectIdentifier(session), from: name, &state) }
        }
    }

    public func unsubscribeAll(_ session: Session) {
        state.withLock { state in
            for name in Array(state.subscriptions.keys) {
                Self.unsubscribe(ObjectIdentifier(session), from: name, &state)
            }
        }
    }

    private static func unsubscribe(_ session: ObjectIdentifier, from name: String, _ state: inout State) {
        guard state.subscriptions[name]?.removeValue(forKey: session) != nil else { return }
        if state.subscriptions[name]?.isEmpty ?? false {
            state.subscriptions[name] = nil
            state.sources[name]?.stop()
        }
    }

    /// Sends an event to its subscribers, each in the form it subscribed in. Any thread.
    /// - Parameter isMeant: whether a subscriber with these options shall have it.
    public func publish(_ event: Event, where isMeant: (JSONObject) -> Bool = { _ in true }) {
        let subscriptions = state.withLock { $0.subscriptions[event.name].map { Array($0.values) } ?? [] }
        for subscription in subscriptions where isMeant(subscription.options) {
            subscription.session.send(.event(event, form: subscription.form))
        }
    }

    /// The form in which a connection subscribed to an event, nil where it did not.
    public func form(of session: Session, for name: String) -> WireForm? {
        state.withLock { $0.subscriptions[name]?[ObjectIdentifier(session)]?.form }
    }

    /// How many subscribers each event has.
    public var subscriberCounts: [String: Int] { state.withLock { $0.subscriptions.mapValues(\.count) } }
}
