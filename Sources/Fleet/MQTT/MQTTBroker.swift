/// The address of a broker, and how a client authenticates.
public struct MQTTBroker: Sendable, Equatable {
    public var host: String
    public var port: Int
    public var tls: TLS?
    public var user: String?
    public var password: String?

    /// Files of OpenSSL's PEM form.
    public struct TLS: Sendable, Equatable {
        /// The authorities that may have signed the broker's certificate; nil: those that the system trusts.
        public var authority: String?
        public var certificate: String?
        public var key: String?

        public init(authority: String? = nil, certificate: String? = nil, key: String? = nil) {
            (self.authority, self.certificate, self.key) = (authority, certificate, key)
        }
    }

    public init(host: String, port: Int, tls: TLS? = nil, user: String? = nil, password: String? = nil) {
        (self.host, self.port, self.tls, self.user, self.password) = (host, port, tls, user, password)
    }
}

/// What a client asks of its broker.
public struct MQTTSession: Sendable {
    /// Its name at the broker. If two clients have the same one, the broker disconnects the older.
    public var client: String
    /// How long the broker keeps messages for an absent client, in seconds; 0: not at all.
    public var expirySeconds: UInt32
    /// What the broker publishes when the client disappears without disconnecting, and how many seconds later.
    public var will: MQTTMessage?
    public var willDelaySeconds: UInt32
    /// The largest packet that the broker may send.
    public var packetBytes: UInt32
    /// Seconds without a packet after which one is sent, so that both sides know that the other is there.
    public var keepAliveSeconds: Int32

    public init(
        client: String,
        expirySeconds: UInt32 = 0,
        will: MQTTMessage? = nil,
        willDelaySeconds: UInt32 = 0,
        packetBytes: UInt32 = 16 << 20,
        keepAliveSeconds: Int32 = 60
    ) {
        self.client = client
        self.expirySeconds = expirySeconds
        self.will = will
        self.willDelaySeconds = willDelaySeconds
        self.packetBytes = packetBytes
        self.keepAliveSeconds = keepAliveSeconds
    }
}
