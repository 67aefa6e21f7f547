package import Configuration
package import QuickConnect

/// The parameters of the gateway at its start.
package struct MQTTOptions: Sendable {
    package var settings: MQTTSettings
    package var broker: MQTTBroker
    package var device: String
    /// The commands that the gateway's socket of the daemon lists; nil: unknown here.
    package var socketCommands: [String]?
    /// Possible paths of the daemon's ordinary socket.
    package var daemonPaths: [String]
    /// The daemon's socket for this gateway.
    package var bridgePath: String
    /// The folder for state that survives restarts; nil: none.
    package var state: String?
    package var version: String
    /// What the daemon takes.
    package var limits = Limits()

    package init(
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
