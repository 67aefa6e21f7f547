import QuickConnect

/// What `mqtt` says: the broker, and what of this device is there. docs/fleet.md describes each.
public struct MQTTSettings: Sendable, Equatable {
    /// HOST or HOST:PORT.
    public var host = ""
    /// Nil: 8883 with TLS, else 1883.
    public var port: Int?
    /// Nil: without TLS.
    public var tls: TLS?
    public var user: String?
    /// The file of the password, where no credential of systemd has it.
    public var passwordFile: String?
    /// What the device is called in topics; nil: as the host is.
    public var device: String?
    public var groups: [String] = []
    public var prefix = "qc"
    /// What calls over the broker may ask for, besides what the gateway's socket says; nil: all that the socket lists.
    public var commands: [String]?
    public var events: [Event] = []
    public var values: [String] = []
    public var states: [State] = []
    public var homeAssistant: HomeAssistant?
    /// What waits while the broker is away.
    public var queueMessages = 1000
    public var queueBytes = 8 << 20
    /// Within which time the members of a group answer, where a call does not say so, in seconds.
    public var spreadSeconds = 1.0
    /// The longest that the first pause before another attempt to connect may be, in seconds.
    public var reconnectSeconds = 30.0
    /// How long the broker keeps calls for a device that is away, in seconds.
    public var sessionSeconds = 3600.0

    public static let service = "quickconnect-mqtt"
    /// What the gateway is called in entries of `sockets`, and in front of its users' names in rules.
    public static let gateway = "mqtt"

    /// Files.
    public struct TLS: Sendable, Equatable {
        public var authority: String?
        public var certificate: String?
        public var key: String?
    }

    /// An event that becomes messages.
    public struct Event: Sendable, Equatable {
        public var name: String
        public var qos = 0
    }

    /// What is known of the device at any time.
    public struct State: Sendable, Equatable {
        public var name: Name
        /// How often it is asked for; nil: the device tells.
        public var everySeconds: Double?

        public enum Name: String, Sendable, CaseIterable {
            case volume, recording, location, doctor

            /// How often the device is asked where nothing tells of a change.
            var defaultSeconds: Double? {
                switch self {
                case .volume, .recording: nil
                case .location: 60
                case .doctor: 600
                }
            }
        }
    }

    /// How the device looks in Home Assistant.
    public struct HomeAssistant: Sendable, Equatable {
        /// The prefix of its discovery topics.
        public var prefix = "homeassistant"
        /// Whom its calls are from.
        public var caller = "ha"
        /// What it calls the device; nil: as topics do.
        public var name: String?
        /// How many sounds get a button each.
        public var buttons = 20
    }

    public init() {}
}

extension Settings {
    /// The path of a gateway's socket, where the settings have one that the daemon makes.
    public func socketPath(ofGateway name: String) -> String? {
        for socket in sockets where socket.gateway?.value == name {
            if case .path(let path) = socket.place { return path }
        }
        return nil
    }
}
