public import JSON

/// A device's event, such as a sensor's values. Runs only while somebody subscribes to it.
public protocol EventSource: Sendable {
    /// The event's name.
    var name: String { get }

    /// Why the options do not fit, as `invalid`, or the device cannot, as `unsupported` or `unavailable`.
    func check(options: JSONObject) throws(CommandError)

    /// The first subscriber came. Calls of `start` and `stop` follow each other; they must not block, and no subscriber
    /// waits for them.
    func start(publishingTo hub: EventHub)

    /// The last subscriber went. As for `start`.
    func stop()

    /// Subscribers came or went while it runs: a sensor whose pace they may choose looks at
    /// ``EventHub/options(of:)``. Any thread, and perhaps late; must not block.
    func subscribersChanged()
}

extension EventSource {
    /// Does nothing: most sources do not care who listens.
    public func subscribersChanged() {}
}
