import CommandLineText
import Configuration
import Fleet
import Glibc
import Linux
import MQTT
import QuickConnect

/// What the settings and the environment say of the broker.
struct MQTTSetup {
    let settings: Settings
    let mqtt: MQTTSettings
    let broker: MQTTBroker
    let folders: StandardFolders
    let environment: [String: String]

    var topics: FleetTopics { FleetTopics(prefix: mqtt.prefix) }

    /// - Parameters:
    ///   - isClient: whether the settings may be the system's if the user has none.
    ///   - user: the user at the broker, instead of the one in the settings.
    init(config: String?, isClient: Bool, user: String? = nil) throws {
        environment = OwnProcess.environment
        folders = StandardFolders(environment, service: MQTTSettings.service)
        let config = config ?? (isClient ? Self.clientConfig(folders, environment) : nil)
        settings = try Settings.load(flags: [.config: config], environment: environment, folders: folders)
        guard let mqtt = settings.mqtt else {
            let path = config ?? folders.config
            throw ExitError(
                message: "\(path) has no 'mqtt', which names the broker: see docs/fleet.md",
                status: ExitError.usageStatus
            )
        }
        self.mqtt = mqtt
        broker = try Self.broker(mqtt, environment, user)
    }

    private static func clientConfig(_ folders: StandardFolders, _ environment: [String: String]) -> String? {
        let system = "/etc/quickconnect/quickconnectd.yaml"
        let isNamed = environment["QUICKCONNECT_CONFIG"].map { !$0.isEmpty } ?? false
        return !isNamed && !Settings.exist(at: folders.config) && FileText.exists(system) ? system : nil
    }

    private static func broker(
        _ mqtt: MQTTSettings,
        _ environment: [String: String],
        _ user: String?
    ) throws(ExitError) -> MQTTBroker {
        func secret(_ path: String, _ line: Result<String?, FileText.Problem>) throws(ExitError) -> String? {
            try line.mapError { ExitError(message: "\(path) \($0.message)", status: 1) }.get()
        }
        func credential(_ name: String) throws(ExitError) -> String? {
            try secret("the credential \(name)", BrokerSecrets.credential(name, environment))
        }
        var password = try credential("mqtt.password")
        if password == nil, let path = mqtt.passwordFile { password = try secret(path, BrokerSecrets.file(path)) }
        var user = user ?? mqtt.user
        if user == nil { user = try credential("mqtt.user") }
        let tls = mqtt.tls.map { MQTTBroker.TLS(authority: $0.authority, certificate: $0.certificate, key: $0.key) }
        for path in [tls?.authority, tls?.certificate, tls?.key].compactMap(\.self) where access(path, R_OK) != 0 {
            throw ExitError(message: "\(path): \(SystemCallError.text(errno))", status: 1)
        }
        return MQTTBroker(
            host: mqtt.host,
            port: mqtt.port ?? (tls == nil ? 1883 : 8883),
            tls: tls,
            user: user,
            password: password
        )
    }

    /// The device's name: from the settings, or the host's name.
    func device() throws(ExitError) -> String {
        if let name = mqtt.device { return name }
        var buffer = [CChar](repeating: 0, count: 256)
        gethostname(&buffer, buffer.count - 1)
        let host = String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        guard FleetName.isValid(host), host != FleetTopics.group else {
            let message = "the host's name '\(host)' cannot stand in topics; name the device with 'device' in 'mqtt'"
            throw ExitError(message: message, status: ExitError.usageStatus)
        }
        return host
    }
}
