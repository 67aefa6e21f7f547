internal import CMosquitto
internal import Glibc

/// Properties of a packet to be sent. Owns libmosquitto's list.
struct PropertyList: ~Copyable {
    private var list: OpaquePointer?

    init() {}

    deinit {
        var list = list
        mosquitto_property_free_all(&list)
    }

    /// For a call that copies what it needs.
    var borrowed: OpaquePointer? { list }

    /// For a function that takes ownership of the list.
    consuming func take() -> OpaquePointer? {
        let list = list
        discard self
        return list
    }

    mutating func add(_ property: mqtt5_property, _ number: UInt32) throws(MQTTError) {
        try MQTTError.check("mosquitto_property_add_int32", mosquitto_property_add_int32(&list, property.id, number))
    }

    mutating func add(_ property: mqtt5_property, _ text: String) throws(MQTTError) {
        try MQTTError.check("mosquitto_property_add_string", mosquitto_property_add_string(&list, property.id, text))
    }

    mutating func add(_ property: mqtt5_property, _ bytes: [UInt8]) throws(MQTTError) {
        guard let count = UInt16(exactly: bytes.count) else {
            throw MQTTError("mosquitto_property_add_binary", "more than 65535 bytes")
        }
        let result = mosquitto_property_add_binary(&list, property.id, bytes, count)
        try MQTTError.check("mosquitto_property_add_binary", result)
    }

    mutating func add(_ pair: MQTTMessage.Property) throws(MQTTError) {
        let result = mosquitto_property_add_string_pair(&list, MQTT_PROP_USER_PROPERTY.id, pair.name, pair.value)
        try MQTTError.check("mosquitto_property_add_string_pair", result)
    }

    /// Adds the properties of a message.
    mutating func add(_ message: MQTTMessage) throws(MQTTError) {
        if let topic = message.responseTopic { try add(MQTT_PROP_RESPONSE_TOPIC, topic) }
        if let data = message.correlationData { try add(MQTT_PROP_CORRELATION_DATA, data) }
        if let seconds = message.expirySeconds { try add(MQTT_PROP_MESSAGE_EXPIRY_INTERVAL, seconds) }
        for property in message.userProperties { try add(property) }
    }
}

extension mqtt5_property {
    var id: Int32 { Int32(bitPattern: UInt32(truncatingIfNeeded: rawValue)) }
}

/// Properties of a received packet, valid during its callback. The readers return copies.
struct ReceivedProperties {
    let list: OpaquePointer?

    func text(_ property: mqtt5_property) -> String? {
        var text: UnsafeMutablePointer<CChar>?
        guard mosquitto_property_read_string(list, property.id, &text, false) != nil else { return nil }
        defer { free(text) }
        return text.map { String(cString: $0) }
    }

    func bytes(_ property: mqtt5_property) -> [UInt8]? {
        var bytes: UnsafeMutableRawPointer?
        var count: UInt16 = 0
        guard mosquitto_property_read_binary(list, property.id, &bytes, &count, false) != nil else { return nil }
        defer { free(bytes) }
        return Array(UnsafeRawBufferPointer(start: bytes, count: Int(count)))
    }

    func number(_ property: mqtt5_property) -> UInt32? {
        var number: UInt32 = 0
        return mosquitto_property_read_int32(list, property.id, &number, false) == nil ? nil : number
    }

    /// The user properties, in their order, at most that many.
    func pairs(atMost most: Int) -> [MQTTMessage.Property] {
        var pairs: [MQTTMessage.Property] = []
        var next = list
        var isFurther = false
        while pairs.count < most {
            var name: UnsafeMutablePointer<CChar>?
            var value: UnsafeMutablePointer<CChar>?
            next = mosquitto_property_read_string_pair(next, MQTT_PROP_USER_PROPERTY.id, &name, &value, isFurther)
            guard next != nil else { break }
            defer {
                free(name)
                free(value)
            }
            isFurther = true
            if let name, let value { pairs.append(.init(String(cString: name), String(cString: value))) }
        }
        return pairs
    }
}
