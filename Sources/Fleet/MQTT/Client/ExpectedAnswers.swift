package import Fleet
internal import JSON

/// The answers to one call: which devices should answer, and what has come. A value without input or output.
package struct ExpectedAnswers: Sendable {
    /// The devices from which an answer is awaited and has not come.
    package private(set) var missing: Set<String>
    package private(set) var results = 0
    package private(set) var errors = 0
    /// The devices that are known to be away, and have not answered.
    package private(set) var away: Set<String>
    /// For how long the broker keeps the call for those that are away.
    package internal(set) var expirySeconds: UInt32 = 0
    /// What to ask where the device is one that nobody knows.
    package internal(set) var question = ""
    private var answered: Set<String> = []
    private let correlationData: [UInt8]
    private let topics: FleetTopics
    private let caller: String

    /// - Parameters:
    ///   - devices: from which an answer is awaited; others may answer, too.
    ///   - away: from which none is awaited, because they are away.
    package init(
        of devices: Set<String>,
        away: Set<String> = [],
        _ topics: FleetTopics,
        caller: String,
        correlationData: [UInt8]
    ) {
        missing = devices
        self.away = away
        self.topics = topics
        self.caller = caller
        self.correlationData = correlationData
    }

    package var count: Int { results + errors }
    package var expected: Int { count + missing.count }

    /// Takes a message. Returns the device and its answer, if it is the device's first answer to this call.
    mutating func take(_ message: MQTTMessage) -> (device: String, reply: FleetReply)? {
        guard message.correlationData == correlationData,
            let (device, _) = topics.readReply(message.topic, to: caller),
            let json = try? JSONParser.parse(message.payload.span), let reply = FleetReply(json),
            answered.insert(device).inserted
        else { return nil }
        missing.remove(device)
        away.remove(device)
        if case .result = reply { results += 1 } else { errors += 1 }
        return (device, reply)
    }
}
