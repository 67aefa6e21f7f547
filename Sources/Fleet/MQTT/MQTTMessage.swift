/// A message, with the properties of MQTT 5 that this project uses.
public struct MQTTMessage: Sendable, Hashable {
    public var topic: String
    public var payload: [UInt8]
    /// 0: at most once, 1: at least once, 2: exactly once.
    public var qos: Int32
    /// When sent: whether the broker retains it. When received: whether its sender had it retained, if the subscription
    /// asked for that.
    public var isRetained: Bool
    /// The topic for an answer.
    public var responseTopic: String?
    /// Data that an answer repeats, so that its receiver can match it.
    public var correlationData: [UInt8]?
    /// How long the broker may keep it, in seconds; when received, the remaining time.
    public var expirySeconds: UInt32?
    public var userProperties: [Property]

    /// A name and a value for applications.
    public struct Property: Sendable, Hashable {
        public var name: String
        public var value: String

        public init(_ name: String, _ value: String) { (self.name, self.value) = (name, value) }
    }

    public init(
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
    public var byteCount: Int {
        payload.count + topic.utf8.count + (responseTopic?.utf8.count ?? 0) + (correlationData?.count ?? 0)
            + userProperties.reduce(0) { $0 + $1.name.utf8.count + $1.value.utf8.count }
    }

    /// The first user property of that name.
    public func property(_ name: String) -> String? { userProperties.first { $0.name == name }?.value }
}
