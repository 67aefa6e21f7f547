/// The users and groups of the device.
public protocol Accounts: Sendable {
    func uid(ofUser name: String) -> UInt32?
    func gid(ofGroup name: String) -> UInt32?
}
