package import Fleet

/// Whether the broker restricts this device to its own name. If a client may call under another name, all rules about
/// callers are void.
package struct RightsCheck {
    private let connection: BrokerConnection
    private let topics: FleetTopics
    private let device: String
    private let caller: String

    private static let timeout = Duration.seconds(10)

    /// What was found.
    package struct Finding: Sendable {
        package var isOK: Bool
        package var text: String
    }

    /// Connects with the device's certificate or password, under another client's name, so that the service is left alone.
    package init(_ broker: MQTTBroker, topics: FleetTopics, device: String) throws(FleetFailure) {
        (self.topics, self.device) = (topics, device)
        let number = String(UInt32.random(in: 1...UInt32.max), radix: 16)
        caller = "check-\(number)"
        connection = try BrokerConnection(broker, name: "\(device.prefix(48))-\(caller)")
        try connection.connect(before: .now + Self.timeout)
    }

    package func run() throws(FleetFailure) -> [Finding] {
        try subscriptions() + mustNot() + must()
    }

    private func subscriptions() throws(FleetFailure) -> [Finding] {
        let topic = topics.calls(to: .device(device))
        do throws(FleetFailure) {
            try connection.subscribe(to: [topic], before: .now + Self.timeout)
        } catch {
            guard case .denied = error else { throw error }
            return [Finding(isOK: false, text: "the broker does not let this device subscribe to \(topic)")]
        }
        return []
    }

    /// No device's list has a caller with this name, and ping does nothing.
    private func mustNot() throws(FleetFailure) -> [Finding] {
        let asAnother = topics.call("ping", to: .device(device), from: caller) ?? ""
        let toAnother = topics.call("ping", to: .device(caller), from: device) ?? ""
        var findings: [Finding] = []
        for (topic, what) in [(asAnother, "call under another name"), (toAnother, "call other devices")] {
            let reason = try send(topic)
            findings.append(
                reason == .notAuthorized
                    ? Finding(isOK: true, text: "the broker does not let this device \(what)")
                    : Finding(
                        isOK: false,
                        text: "the broker lets this device \(what) (\(topic)): its list of rights must forbid that"
                    )
            )
        }
        return findings
    }

    private func must() throws(FleetFailure) -> [Finding] {
        // Under a reply for which nobody waits, and an event that nobody knows.
        let mine = [
            topics.response(of: .device(device), to: caller, "check"), topics.topic(.event(caller), of: device),
            topics.topic(.state(caller), of: device),
        ]
        var findings: [Finding] = []
        for topic in mine {
            let isOK = try !send(topic).isRefusal
            findings.append(
                Finding(
                    isOK: isOK,
                    text: "the broker \(isOK ? "lets" : "does not let") this device publish to \(topic)"
                )
            )
        }
        return findings
    }

    private func send(_ topic: String) throws(FleetFailure) -> MQTTReason {
        try connection.publish(MQTTMessage(topic, [], expirySeconds: 1), before: .now + Self.timeout)
    }
}
