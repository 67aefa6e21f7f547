/// The payload of `status`: the words that Home Assistant expects by itself.
package enum DeviceStatus: String, Sendable {
    case online, offline
}
