/// The address of a broker, and how a client authenticates.
package struct MQTTBroker: Sendable, Equatable {
    package var host: String
    package var port: Int
    package var tls: TLS?
    package var user: String?
    package var password: String?

    /// Files of OpenSSL's PEM form.
    package struct TLS: Sendable, Equatable {
        /// The authorities that may have signed the broker's certificate; nil: those that the system trusts.
        package var authority: String?
        package var certificate: String?
        package var key: String?

        package init(authority: String? = nil, certificate: String? = nil, key: String? = nil) {
            (self.authority, self.certificate, self.key) = (authority, certificate, key)
        }
    }

    package init(host: String, port: Int, tls: TLS? = nil, user: String? = nil, password: String? = nil) {
        (self.host, self.port, self.tls, self.user, self.password) = (host, port, tls, user, password)
    }
}

/// What a client asks of its broker.
package struct MQTTSession: Sendable {
    /// Its name at the broker. If two clients have the same one, the broker disconnects the older.
    package var client: String
    /// How long the broker keeps messages for an absent client, in seconds; 0: not at all.
    package var expirySeconds: UInt32 = 0
    /// What the broker publishes when the client disappears without disconnecting, and how many seconds later.
    package var will: MQTTMessage?
    package var willDelaySeconds: UInt32 = 0
    /// The largest packet that the broker may send.
    package var packetBytes: UInt32 = 16 << 20
    /// Seconds without a packet after which one is sent, so that both sides know that the other is there.
    package var keepAliveSeconds: Int32 = 60
    /// How often libmosquitto is asked whether a ping is due. It sends one only when nothing was sent for the whole time, and a
    /// broker may end the connection after one and a half times that (MQTT 5.0, 3.1.2.10).
    var keepAlivePause: Duration { .milliseconds(max(1000, Int(keepAliveSeconds) * 250)) }
}
