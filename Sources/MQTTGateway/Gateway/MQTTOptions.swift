public import Configuration
public import MQTT

/// What the gateway is told when it starts.
public struct MQTTOptions: Sendable {
    public var settings: MQTTSettings
    public var broker: MQTTBroker
    public var device: String
    /// What the gateway's socket of the daemon lists; nil: not known here.
    public var socketCommands: [String]?
    /// Where the daemon's ordinary socket may be.
    public var daemonPaths: [String]
    /// The daemon's socket for this gateway.
    public var bridgePath: String
    /// The folder of what is kept over restarts; nil: nothing is.
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
