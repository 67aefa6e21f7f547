/// A message, with the properties of MQTT 5 that this project uses.
package struct MQTTMessage: Sendable, Hashable {
    package var topic: String
    package var payload: [UInt8]
    /// 0: at most once, 1: at least once, 2: exactly once.
    package var qos: Int32
    /// When sent: whether the broker retains it. When received: whether its sender had it retained, if the subscription
    /// asked for that.
    package var isRetained: Bool
    /// The topic for an answer.
    package var responseTopic: String?
    /// Data that an answer repeats, so that its receiver can match it.
    package var correlationData: [UInt8]?
    /// How long the broker may keep it, in seconds; when received, the remaining time.
    package var expirySeconds: UInt32?
    package var userProperties: [Property]

    /// A name and a value for applications.
    package struct Property: Sendable, Hashable {
        package var name: String
        package var value: String

        package init(_ name: String, _ value: String) { (self.name, self.value) = (name, value) }
    }

    package init(
        _ topic: String,
        _ payload: [UInt8],
        qos: Int32 = 1,
        isRetained: Bool = false,
        responseTopic: String? = nil,
        correlationData: [UInt8]? = nil,
        expirySeconds: UInt32? = nil,
        userProperties: [Property] = []
    ) {
        self.topic = topic
        self.payload = payload
        self.qos = qos
        self.isRetained = isRetained
        self.responseTopic = responseTopic
        self.correlationData = correlationData
        self.expirySeconds = expirySeconds
        self.userProperties = userProperties
    }

    /// The size of its variable parts: payload, topic and properties.
    package var byteCount: Int {
        let properties: Int = userProperties.reduce(0) { $0 + $1.name.utf8.count + $1.value.utf8.count }
        let response: Int = (responseTopic?.utf8.count ?? 0) + (correlationData?.count ?? 0)
        return payload.count + topic.utf8.count + response + properties
    }

    /// The first user property of that name.
    package func property(_ name: String) -> String? { userProperties.first { $0.name == name }?.value }
}
