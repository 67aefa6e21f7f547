/// The users and groups of the device.
public protocol Accounts: Sendable {
    func uid(ofUser name: String) -> UInt32?
    func gid(ofGroup name: String) -> UInt32?
}

/// The users of this project's services that answer for commands. Each exists only where its part is installed.
enum ServiceUsers {
    static let names: Set = [
        "quickconnect-data", "quickconnect-mqtt", "quickconnect-scripts", "quickconnect-sync", "quickconnect-web",
    ]

    /// The group of those who may use the device's socket, which its package makes.
    static let group = "quickconnect"

    /// The service that publishes values to the users of a gateway, by the gateway's name.
    static let publishers = ["mqtt": "quickconnect-mqtt"]

    /// Their ids on this device.
    static func ids(_ accounts: any Accounts) -> Set<UInt32> { Set(names.compactMap(accounts.uid(ofUser:))) }
}
