public import JSON
import Synchronization

/// A device's event, such as a sensor's values. Runs only while somebody subscribes to it.
public protocol EventSource: Sendable {
    /// The event's name.
    var name: String { get }

    /// Throws `invalid` if the options do not fit, and `unsupported` or `unavailable` if the device cannot provide the
    /// event.
    func check(options: JSONObject) throws(CommandError)

    /// Called for the first subscriber. Calls of `start` and `stop` never overlap. They must not block; no subscriber
    /// waits for them.
    func start(publishingTo hub: EventHub)

    /// Called when the last subscriber is gone. As for `start`.
    func stop()

    /// Subscribers came or went while it runs. A sensor whose rate they may choose reads ``EventHub/options(of:)``.
    /// Called on any thread, perhaps late; must not block.
    func subscribersChanged()
}

extension EventSource {
    /// Rejects every option: most events have none.
    public func check(options: JSONObject) throws(CommandError) {
        guard options.isEmpty else { throw CommandError(.invalid, "the event '\(name)' takes no options") }
    }

    /// Does nothing: most sources do not depend on who subscribes.
    public func subscribersChanged() {}
}

/// A device's event. It is published only while somebody subscribes, and costs nothing otherwise.
public final class DeviceEvent: EventSource {
    /// The event's name.
    public let name: String
    private let hub = Mutex<EventHub?>(nil)

    /// - Parameter name: one of ``DaemonEvents/names``.
    public init(_ name: String) { self.name = name }

    /// Whether somebody subscribes. A device checks this before it does work for a value.
    public var isWanted: Bool { hub.withLock { $0 != nil } }

    /// Sends a value to the subscribers, if any. Called on any thread; never blocks.
    public func publish(_ value: @autoclosure () -> JSONValue, kind: Event.Kind) {
        guard let hub = hub.withLock({ $0 }) else { return }
        hub.publish(Event(name, value(), kind: kind))
    }

    /// Publishes to the hub from now on.
    public func start(publishingTo hub: EventHub) { self.hub.withLock { $0 = hub } }

    /// Stops publishing.
    public func stop() { hub.withLock { $0 = nil } }
}
