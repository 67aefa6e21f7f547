public import Configuration
public import MQTT

/// The parameters of the gateway at its start.
public struct MQTTOptions: Sendable {
    public var settings: MQTTSettings
    public var broker: MQTTBroker
    public var device: String
    /// The commands that the gateway's socket of the daemon lists; nil: unknown here.
    public var socketCommands: [String]?
    /// Possible paths of the daemon's ordinary socket.
    public var daemonPaths: [String]
    /// The daemon's socket for this gateway.
    public var bridgePath: String
    /// The folder for state that survives restarts; nil: none.
    public var state: String?
    public var version: String

    public init(
        settings: MQTTSettings,
        broker: MQTTBroker,
        device: String,
        daemonPaths: [String],
        bridgePath: String,
        version: String
    ) {
        self.settings = settings
        self.broker = broker
        self.device = device
        self.daemonPaths = daemonPaths
        self.bridgePath = bridgePath
        self.version = version
    }
}
