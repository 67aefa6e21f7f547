public import JSON

/// The events of one name, for one reader. Made by ``DeviceClient/events(_:_:bufferSize:)``.
public struct DeviceEvents: AsyncSequence, Sendable {
    /// One event.
    public struct Event: Sendable, Hashable {
        /// Its value, unchanged.
        public var value: JSONValue
        /// How many before it were dropped, because the reader was slow.
        public var dropped: Int
    }

    /// Ends the subscription when nobody reads any more.
    final class Subscription: Sendable {
        let name: String
        let mailbox: Mailbox<JSONValue>
        let device: DeviceClient

        init(_ name: String, _ options: JSONObject?, _ size: Int, _ device: DeviceClient) {
            self.name = name
            self.device = device
            mailbox = Mailbox(size: Swift.max(1, size))
            device.thread.order(.subscribe(name, options, mailbox))
        }

        /// A value: what it is, and what it becomes.
        init(watching name: String, _ device: DeviceClient) {
            self.name = name
            self.device = device
            mailbox = Mailbox(size: 64)
            device.thread.order(.watch(name, mailbox))
        }

        deinit { device.thread.order(.unsubscribe(name, mailbox)) }
    }

    private let subscription: Subscription

    init(_ name: String, _ options: JSONObject?, _ size: Int, _ device: DeviceClient) {
        subscription = Subscription(name, options, size, device)
    }

    /// Returns as soon as the daemon has accepted the subscription; events from then on are received. Throws if it
    /// refuses it.
    public func ready() async throws(CallFailure) { try await subscription.mailbox.ready() }

    /// The events, for one reader.
    public func makeAsyncIterator() -> Iterator { Iterator(subscription: subscription) }

    /// Reads the events, oldest first. If the reading task is cancelled, the sequence ends.
    public struct Iterator: AsyncIteratorProtocol {
        let subscription: Subscription

        /// The next event; nil when the subscription has ended. Throws why it failed.
        public mutating func next() async throws(CallFailure) -> Event? {
            guard let taken = try await subscription.mailbox.next() else { return nil }
            return Event(value: taken.element, dropped: taken.dropped)
        }
    }
}
