import QuickConnect

/// The section `mqtt`: the broker, and what it gets of this device. docs/fleet.md describes each setting.
public struct MQTTSettings: Sendable, Equatable {
    /// HOST or HOST:PORT.
    public var host = ""
    /// Nil: 8883 with TLS, otherwise 1883.
    public var port: Int?
    /// Nil: without TLS.
    public var tls: TLS?
    public var user: String?
    /// The file of the password, unless a systemd credential has it.
    public var passwordFile: String?
    /// The device's name in topics; nil: the host's name.
    public var device: String?
    public var groups: [String] = []
    public var prefix = "qc"
    /// The commands that calls over the broker may use, of those that the gateway's socket lists; nil: all of them.
    public var commands: [String]?
    public var events: [Event] = []
    public var values: [String] = []
    /// Whether all values are published whose own rules name a user or a group of this gateway, in place of ``values``.
    public var publishesOwnValues = false
    public var states: [State] = []
    public var homeAssistant: HomeAssistant?
    /// How many messages may wait while the broker is away.
    public var queueMessages = 1000
    public var queueBytes = 8 << 20
    /// The time within which members of a group answer, if a call does not set it, in seconds.
    public var spreadSeconds = 1.0
    /// The longest first pause before a reconnection, in seconds.
    public var reconnectSeconds = 30.0
    /// How long the broker keeps calls for a device that is away, in seconds.
    public var sessionSeconds = 3600.0

    /// Whether a value's name can be a topic of its own.
    public static func isTopic(ofValue name: String) -> Bool {
        State.Name(rawValue: name) == nil && isLevel(name)
    }

    /// Whether a name can be a level of a topic.
    static func isLevel(_ name: String) -> Bool { !name.isEmpty && !name.contains { "/+#\0".contains($0) } }

    public static let service = "quickconnect-mqtt"
    /// The gateway's name in entries of `sockets`, and the prefix of its users' names in rules.
    public static let gateway = "mqtt"

    /// The files for TLS.
    public struct TLS: Sendable, Equatable {
        public var authority: String?
        public var certificate: String?
        public var key: String?
    }

    /// An event that is published.
    public struct Event: Sendable, Equatable {
        public var name: String
        public var qos = 0
    }

    /// A state that is published.
    public struct State: Sendable, Equatable {
        public var name: Name
        /// How often it is requested; nil: the device reports changes.
        public var everySeconds: Double?

        public enum Name: String, Sendable, CaseIterable {
            case volume, recording, location, doctor

            /// How often it is requested if no event reports changes.
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
        /// The caller's name of its calls.
        public var caller = "ha"
        /// The device's name there; nil: as in topics.
        public var name: String?
        /// How many sounds get a button.
        public var buttons = 20
    }

    public init() {}
}

extension Settings {
    /// The path of a gateway's socket, if the settings have one that the daemon makes.
    public func socketPath(ofGateway name: String) -> String? {
        for socket in sockets where socket.gateway?.value == name {
            if case .path(let path) = socket.place { return path }
        }
        return nil
    }
}
