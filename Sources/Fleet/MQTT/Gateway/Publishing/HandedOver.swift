import DequeModule

/// Messages given to libmosquitto but not yet acknowledged. It gets only a few at a time, so that the rest waits in the
/// bounded ``Backlog``.
struct HandedOver: Sendable {
    private var messages: [Int32: (message: MQTTMessage, kind: Backlog.Kind)] = [:]
    /// libmosquitto's message numbers in the order of handing over. They ascend until they wrap around.
    private var order: Deque<Int32> = []
    private var bytes = 0

    private static let maxMessages = 100
    private static let maxBytes = 1 << 20

    var count: Int { messages.count }

    /// Whether another message may be handed over. One always may, however large.
    var hasRoom: Bool { messages.isEmpty || messages.count < Self.maxMessages && bytes < Self.maxBytes }

    mutating func add(_ number: Int32, _ message: MQTTMessage, _ kind: Backlog.Kind) {
        messages[number] = (message, kind)
        order.append(number)
        bytes += message.byteCount
    }

    @discardableResult
    mutating func remove(_ number: Int32) -> MQTTMessage? {
        guard let (message, _) = messages.removeValue(forKey: number) else { return nil }
        bytes -= message.byteCount
        // Nearly always the first one.
        if let place = order.firstIndex(of: number) { order.remove(at: place) }
        return message
    }

    /// After the connection is lost: the messages that may not have arrived, in order.
    mutating func takeAll() -> [(message: MQTTMessage, kind: Backlog.Kind)] {
        defer { self = HandedOver() }
        return order.compactMap { messages[$0] }
    }
}
