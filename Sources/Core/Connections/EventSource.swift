public import JSON

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
    /// Does nothing: most sources do not depend on who subscribes.
    public func subscribersChanged() {}
}
