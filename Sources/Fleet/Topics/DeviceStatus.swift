/// The payload of `status`: the words that Home Assistant expects by itself.
public enum DeviceStatus: String, Sendable {
    case online, offline
}
