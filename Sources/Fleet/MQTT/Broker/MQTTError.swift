internal import CMosquitto
internal import Glibc
internal import Linux

/// A call of libmosquitto that failed: its name, its code, and the text for it.
package struct MQTTError: Error, Sendable, CustomStringConvertible {
    package var call: String
    package var code: Int32
    /// The end of a sentence, for people.
    package var text: String

    init(_ call: String, _ code: Int32) {
        let error = errno
        self.call = call
        self.code = code
        // Some failures are system errors, and only errno has the details.
        text = code == MOSQ_ERR_ERRNO.rawInt ? SystemCallError.text(error) : Self.words(mosquitto_strerror(code))
    }

    package init(_ call: String, _ text: String) {
        (self.call, self.text, code) = (call, text, -1)
    }

    package var description: String { "\(call): \(text)" }

    /// As the rest of a sentence.
    static func words(_ text: UnsafePointer<CChar>?) -> String {
        let text = text.map { String(cString: $0) } ?? ""
        var words = text.prefix(1).lowercased() + text.dropFirst()
        while words.last == "." { words.removeLast() }
        return words
    }

    /// Whether the connection is at fault, so that the request may succeed on the next one.
    package var isOfConnection: Bool {
        [MOSQ_ERR_ERRNO, MOSQ_ERR_CONN_LOST, MOSQ_ERR_NO_CONN, MOSQ_ERR_TLS].contains { $0.rawInt == code }
    }

    /// Whether the message is larger than the broker takes.
    package var isTooLarge: Bool { [MOSQ_ERR_OVERSIZE_PACKET, MOSQ_ERR_PAYLOAD_SIZE].contains { $0.rawInt == code } }

    static func check(_ call: String, _ code: Int32) throws(MQTTError) {
        guard code == MOSQ_ERR_SUCCESS.rawInt else { throw MQTTError(call, code) }
    }
}

extension mosq_err_t {
    var rawInt: Int32 { Int32(bitPattern: UInt32(truncatingIfNeeded: rawValue)) }
}

/// The result of a request: a reason code of MQTT 5 (a refusal from 128 on), or, for a connection that ended without
/// one, a code of libmosquitto.
package struct MQTTReason: Sendable, Hashable, CustomStringConvertible {
    package var code: Int32

    package init(_ code: Int32) { self.code = code }

    /// Accepted, but nobody subscribes to it, not even an absent client.
    package static let nobody = MQTTReason(16)
    package static let notAuthorized = MQTTReason(135)
    /// Another client has connected with the same identifier.
    package static let takenOver = MQTTReason(142)

    /// The connection has ended without a reason.
    package static let connectionLost = MQTTReason(MOSQ_ERR_CONN_LOST.rawInt)

    package var isRefusal: Bool { code >= 128 }

    package var description: String {
        let isReason = isRefusal || self == .nobody
        let words = MQTTError.words(isReason ? mosquitto_reason_string(code) : mosquitto_strerror(code))
        return isRefusal ? "\(words) (\(code))" : words
    }
}
