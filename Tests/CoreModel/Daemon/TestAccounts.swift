public import QuickConnect

/// A device with three users, a service and two groups.
public struct TestAccounts: Accounts {
    private static let users: [String: UInt32] = [
        "alice": 1000, "bob": 1001, "carol": 1002, "quickconnect-scripts": 1003, "quickconnect-mqtt": 1004,
    ]

    public init() {}

    public static func name(ofUser uid: UInt32) -> String? { users.first { $0.value == uid }?.key }

    public func uid(ofUser name: String) -> UInt32? { Self.users[name] }
    public func gid(ofGroup name: String) -> UInt32? { ["audio": 29, "video": 44][name] }
}
