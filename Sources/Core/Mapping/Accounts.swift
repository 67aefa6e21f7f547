/// The users and groups of the device.
public protocol Accounts: Sendable {
    func uid(ofUser name: String) -> UInt32?
    func gid(ofGroup name: String) -> UInt32?
}

/// The users of this project's services. Each exists only where its part is installed.
enum ServiceUsers {
    /// Those that answer for commands.
    private static let answering: Set = [
        "quickconnect-data", "quickconnect-mqtt", "quickconnect-scripts", "quickconnect-sync", "quickconnect-web",
    ]
    static let names = answering.union(["quickconnect-kiosk"])

    /// The group of those who may use the device's socket, which its package makes.
    static let group = "quickconnect"

    /// The service that publishes values to the users of a gateway, by the gateway's name.
    static let publishers = ["mqtt": "quickconnect-mqtt"]

    /// The ids on this device of those that answer for commands.
    static func ids(_ accounts: any Accounts) -> Set<UInt32> { Set(answering.compactMap(accounts.uid(ofUser:))) }
}
