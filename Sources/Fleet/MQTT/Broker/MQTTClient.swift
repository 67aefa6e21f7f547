internal import CMosquitto
package import Glibc

/// An MQTT 5 client for one connection: on a second one, libmosquitto would send unacknowledged messages again, and an
/// answer could arrive twice. It owns its libmosquitto handle, which has no thread: the caller polls ``events`` and
/// passes the result to ``advance(_:)``.
///
/// For one thread at a time. Only ``connect()`` blocks, to look up the broker's name.
package final class MQTTClient {
    /// What happened.
    package enum Event: Sendable, Hashable {
        /// The broker accepts the client; `isKnown` if it still had its session.
        case connected(isKnown: Bool)
        /// The broker refuses the client.
        case refused(MQTTReason)
        case disconnected(MQTTReason)
        case message(MQTTMessage)
        /// The message with that number from ``publish(_:)`` has been sent, or the broker has answered.
        case published(Int32, MQTTReason)
        /// What the broker grants of each topic of one ``subscribe(to:)``: a QoS, or a refusal from 128 on.
        case subscribed(Int32, [Int32])
    }

    private let handle: OpaquePointer
    private let broker: MQTTBroker
    private let session: MQTTSession
    private var happened: [Event] = []

    /// User properties beyond this number are ignored.
    fileprivate static let maxProperties = 16
    private static let isReady = mosquitto_lib_init() == MOSQ_ERR_SUCCESS.rawInt

    /// Prepares a client; ``connect()`` is what connects.
    package init(_ broker: MQTTBroker, _ session: MQTTSession) throws(MQTTError) {
        guard Self.isReady, let handle = mosquitto_new(session.client, session.expirySeconds == 0, nil) else {
            throw MQTTError("mosquitto_new", MOSQ_ERR_ERRNO.rawInt)
        }
        (self.handle, self.broker, self.session) = (handle, broker, session)
        mosquitto_user_data_set(handle, Unmanaged.passUnretained(self).toOpaque())
        try setOptions()
        try setWill()
        setCallbacks()
    }

    deinit { mosquitto_destroy(handle) }

    private func setOptions() throws(MQTTError) {
        for (option, value) in [(MOSQ_OPT_PROTOCOL_VERSION, MQTT_PROTOCOL_V5), (MOSQ_OPT_TCP_NODELAY, 1)] {
            try MQTTError.check("mosquitto_int_option", mosquitto_int_option(handle, option, value))
        }
        if let user = broker.user {
            let result = mosquitto_username_pw_set(handle, user, broker.password)
            try MQTTError.check("mosquitto_username_pw_set", result)
        }
        guard let tls = broker.tls else { return }
        if tls.authority == nil {
            try MQTTError.check("mosquitto_int_option", mosquitto_int_option(handle, MOSQ_OPT_TLS_USE_OS_CERTS, 1))
        }
        // libmosquitto requires an authority, or the statement that there is none of its own.
        guard tls.authority != nil || tls.certificate != nil else {
            return try MQTTError.check(
                "mosquitto_tls_set",
                mosquitto_tls_set(handle, nil, "/etc/ssl/certs", nil, nil, nil)
            )
        }
        let folder = tls.authority == nil ? "/etc/ssl/certs" : nil
        let result = mosquitto_tls_set(handle, tls.authority, folder, tls.certificate, tls.key, nil)
        try MQTTError.check("TLS with the authority, certificate and key of the settings", result)
    }

    private func setWill() throws(MQTTError) {
        guard let will = session.will else { return }
        var properties = PropertyList()
        if session.willDelaySeconds > 0 { try properties.add(MQTT_PROP_WILL_DELAY_INTERVAL, session.willDelaySeconds) }
        // On success the handle owns the list.
        let list = properties.take()
        let result = mosquitto_will_set_v5(
            handle,
            will.topic,
            Int32(will.payload.count),
            will.payload,
            will.qos,
            will.isRetained,
            list
        )
        if result != MOSQ_ERR_SUCCESS.rawInt {
            var list = list
            mosquitto_property_free_all(&list)
        }
        try MQTTError.check("mosquitto_will_set_v5", result)
    }

    private func setCallbacks() {
        mosquitto_connect_v5_callback_set(handle) { _, client, reason, flags, _ in
            MQTTClient.of(client)?.take(
                reason == 0 ? .connected(isKnown: flags & 1 == 1) : .refused(MQTTReason(reason))
            )
        }
        mosquitto_disconnect_v5_callback_set(handle) { _, client, reason, _ in
            MQTTClient.of(client)?.take(.disconnected(MQTTReason(reason)))
        }
        mosquitto_message_v5_callback_set(handle) { _, client, message, properties in
            guard let message else { return }
            MQTTClient.of(client)?.take(.message(MQTTMessage(message.pointee, ReceivedProperties(list: properties))))
        }
        mosquitto_publish_v5_callback_set(handle) { _, client, number, reason, _ in
            MQTTClient.of(client)?.take(.published(number, MQTTReason(reason)))
        }
        mosquitto_subscribe_v5_callback_set(handle) { _, client, number, count, granted, _ in
            let granted = Array(UnsafeBufferPointer(start: granted, count: Int(count)))
            MQTTClient.of(client)?.take(.subscribed(number, granted))
        }
    }

    private static func of(_ client: UnsafeMutableRawPointer?) -> MQTTClient? {
        client.map { Unmanaged<MQTTClient>.fromOpaque($0).takeUnretainedValue() }
    }

    private func take(_ event: Event) { happened.append(event) }

    // MARK: The connection

    /// Starts to connect, once. Blocks only while the broker's name is looked up.
    package func connect() throws(MQTTError) {
        try keepProperties()
        let port = Int32(broker.port)
        let result = mosquitto_connect_async(handle, broker.host, port, session.keepAliveSeconds)
        try MQTTError.check("cannot connect", result)
    }

    /// Only the blocking function accepts properties. It checks the port after storing them and refuses this one; the
    /// properties then stay for the function that does not block.
    private func keepProperties() throws(MQTTError) {
        var properties = PropertyList()
        if session.expirySeconds > 0 { try properties.add(MQTT_PROP_SESSION_EXPIRY_INTERVAL, session.expirySeconds) }
        try properties.add(MQTT_PROP_MAXIMUM_PACKET_SIZE, session.packetBytes)
        let list = properties.borrowed
        _ = mosquitto_connect_bind_v5(handle, broker.host, -1, session.keepAliveSeconds, nil, list)
    }

    /// Disconnects properly, so that the broker publishes no will.
    package func disconnect() { mosquitto_disconnect_v5(handle, 0, nil) }

    /// What to wait for in poll(2); without a connection a descriptor that is left out.
    package var events: pollfd {
        let wants = mosquitto_want_write(handle) ? POLLIN | POLLOUT : POLLIN
        return pollfd(fd: mosquitto_socket(handle), events: Int16(wants), revents: 0)
    }

    /// Whether there is a socket, connected or on the way to it.
    package var isOpen: Bool { mosquitto_socket(handle) >= 0 }

    /// Reads and writes what is possible according to poll(2). If the connection is lost, that is an event.
    package func advance(_ revents: Int16) {
        if revents & ~Int16(POLLOUT) != 0 { readSome() }
        if isOpen, mosquitto_want_write(handle) { _ = mosquitto_loop_write(handle, 1) }
    }

    /// Reads packets until there are none, for a slice of time: what one caller has sent must not wait in the socket until
    /// the calls before it are done.
    private func readSome() {
        let end = ContinuousClock.now + .milliseconds(1)
        var count = -1
        while isOpen, happened.count > count, .now < end {
            count = happened.count
            _ = mosquitto_loop_read(handle, 1)
        }
    }

    /// Keeps the connection alive, and detects that it is dead. Must be called at least twice per
    /// ``MQTTSession/keepAliveSeconds``.
    package func keepAlive() { _ = mosquitto_loop_misc(handle) }

    /// Whether something happened since the last time.
    package var hasEvents: Bool { !happened.isEmpty }

    /// What happened since the last time, in order.
    package func takeEvents() -> [Event] {
        var taken: [Event] = []
        swap(&taken, &happened)
        return taken
    }

    // MARK: Messages

    /// Hands a message over.
    /// - Returns: the number of the event ``Event/published(_:_:)``.
    @discardableResult
    package func publish(_ message: MQTTMessage) throws(MQTTError) -> Int32 {
        var properties = PropertyList()
        try properties.add(message)
        let list = properties.borrowed
        var number: Int32 = 0
        let result = mosquitto_publish_v5(
            handle,
            &number,
            message.topic,
            Int32(message.payload.count),
            message.payload,
            message.qos,
            message.isRetained,
            list
        )
        try MQTTError.check("mosquitto_publish_v5", result)
        return number
    }

    /// What a subscription delivers in addition to new messages.
    package struct Subscription: Sendable {
        package var topic: String
        /// Whether retained messages are delivered at once.
        package var bringsRetained: Bool

        package init(_ topic: String, bringsRetained: Bool = false) {
            (self.topic, self.bringsRetained) = (topic, bringsRetained)
        }
    }

    /// Subscribes with QoS 1. The client's own messages are not delivered, and messages show whether they were sent as
    /// retained.
    @discardableResult
    package func subscribe(to subscription: Subscription) throws(MQTTError) -> Int32 {
        var options = MQTT_SUB_OPT_NO_LOCAL.rawValue | MQTT_SUB_OPT_RETAIN_AS_PUBLISHED.rawValue
        // The option to skip own messages is not allowed for a shared subscription.
        if subscription.topic.hasPrefix("$share/") { options = MQTT_SUB_OPT_RETAIN_AS_PUBLISHED.rawValue }
        if !subscription.bringsRetained { options |= MQTT_SUB_OPT_SEND_RETAIN_NEVER.rawValue }
        var number: Int32 = 0
        let result = mosquitto_subscribe_v5(handle, &number, subscription.topic, 1, Int32(options), nil)
        try MQTTError.check("mosquitto_subscribe_v5", result)
        return number
    }
}

extension MQTTMessage {
    fileprivate init(_ message: mosquitto_message, _ properties: ReceivedProperties) {
        self.init(
            String(cString: message.topic),
            Array(UnsafeRawBufferPointer(start: message.payload, count: Int(message.payloadlen))),
            qos: message.qos,
            isRetained: message.retain,
            responseTopic: properties.text(MQTT_PROP_RESPONSE_TOPIC),
            correlationData: properties.bytes(MQTT_PROP_CORRELATION_DATA),
            expirySeconds: properties.number(MQTT_PROP_MESSAGE_EXPIRY_INTERVAL),
            userProperties: properties.pairs(atMost: MQTTClient.maxProperties)
        )
    }
}
