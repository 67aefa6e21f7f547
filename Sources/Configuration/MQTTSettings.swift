import QuickConnect

/// The section `mqtt`: the broker, and what it gets of this device. docs/fleet.md describes each setting.
package struct MQTTSettings: Sendable, Equatable {
    /// HOST or HOST:PORT.
    package var host = ""
    /// Nil: 8883 with TLS, otherwise 1883.
    package var port: Int?
    /// Nil: without TLS.
    package var tls: TLS?
    package var user: String?
    /// The file of the password, unless a systemd credential has it.
    package var passwordFile: String?
    /// The device's name in topics; nil: the host's name.
    package var device: String?
    package var groups: [String] = []
    package var prefix = "qc"
    /// The commands that calls over the broker may use, of those that the gateway's socket lists; nil: all of them.
    package var commands: [String]?
    package var events: [Event] = []
    package var values: [String] = []
    /// Whether all values, events and schedules are published whose own rules name a user or a group of this gateway, in place
    /// of ``values``.
    package var publishesOwnValues = false
    package var states: [State] = []
    package var homeAssistant: HomeAssistant?
    /// How many messages may wait while the broker is away.
    package var queueMessages = 1000
    package var queueBytes = 8 << 20
    /// The time within which members of a group answer, if a call does not set it, in seconds.
    package var spreadSeconds = 1.0
    /// The longest first pause before a reconnection, in seconds.
    package var reconnectSeconds = 30.0
    /// How long the broker keeps calls for a device that is away, in seconds.
    package var sessionSeconds = 3600.0

    /// Whether the name of a value or a schedule can be the topic of its state.
    package static func isTopic(ofValue name: String) -> Bool {
        State.Name(rawValue: name) == nil && name != hardware && isLevel(name)
    }

    /// The state that tells Home Assistant which parts of the device answer.
    package static let hardware = "hardware"

    /// Whether a name can be a level of a topic.
    package static func isLevel(_ name: String) -> Bool { !name.isEmpty && !name.contains { "/+#\0".contains($0) } }

    package static let service = "quickconnect-mqtt"
    /// The gateway's name in entries of `sockets`, and the prefix of its users' names in rules.
    package static let gateway = "mqtt"

    /// The files for TLS.
    package struct TLS: Sendable, Equatable {
        package var authority: String?
        package var certificate: String?
        package var key: String?
    }

    /// An event that is published.
    package struct Event: Sendable, Equatable {
        package var name: String
        package var qos = 0
    }

    /// A state that is published.
    package struct State: Sendable, Equatable {
        package var name: Name
        /// How often it is requested; nil: the device reports changes.
        package var everySeconds: Double?

        package enum Name: String, Sendable, CaseIterable {
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
    package struct HomeAssistant: Sendable, Equatable {
        /// The prefix of its discovery topics.
        package var prefix = "homeassistant"
        /// The caller's name of its calls.
        package var caller = "ha"
        /// The device's name there; nil: as in topics.
        package var name: String?
        /// How many sounds get a button.
        package var buttons = 20
    }

    package init() {}
}

extension Settings {
    /// The path of a gateway's socket, if the settings have one that the daemon makes.
    package func socketPath(ofGateway name: String) -> String? {
        for socket in sockets where socket.gateway?.value == name {
            if case .path(let path) = socket.place { return path }
        }
        return nil
    }
}
