public import QuickConnect

/// A socket with a list of commands of its own: an entry of `sockets`.
public struct SocketSetting: Sendable {
    /// Where it is.
    public enum Place: Sendable, Hashable {
        /// The daemon makes it.
        case path(String)
        /// systemd makes it: FileDescriptorName= of its socket unit.
        case systemd(String)

        /// As messages call it.
        public var name: String {
            switch self {
            case .path(let path): path
            case .systemd(let name): name
            }
        }

        /// Names are the same where their bytes are, as for the system.
        public static func == (one: Place, other: Place) -> Bool {
            switch (one, other) {
            case (.path(let one), .path(let other)), (.systemd(let one), .systemd(let other)):
                one.utf8.elementsEqual(other.utf8)
            default: false
            }
        }
    }

    /// What systemd calls the daemon's own socket: by its unit, or where nothing names it.
    public static let ownNames = ["quickconnectd.socket", "unknown", ""]

    public var place: Place
    public var commands: [Located<String>]
    /// How many connections it takes at once, besides those of other sockets.
    public var connections = 64
    /// The permissions of its file, where the daemon makes it.
    public var mode: UInt32 = 0o660
    public var group: Located<String>?
    /// The gateway that it is for, and the user that this runs as; both or neither.
    public var gateway: Located<String>?
    public var user: Located<String>?
    public var location: SourceLocation

    /// - Parameter accounts: knows the gateway's user.
    public func rule(_ accounts: any Accounts) -> SocketRule {
        SocketRule(
            name: place.name,
            commands: commands.map(\.value),
            connections: connections,
            gateway: gateway(accounts),
            location: location
        )
    }

    private func gateway(_ accounts: any Accounts) -> SocketRule.Gateway? {
        guard let gateway, let uid = user.flatMap({ accounts.uid(ofUser: $0.value) }) else { return nil }
        return SocketRule.Gateway(name: gateway.value, uid: uid)
    }

    /// Users and groups that this device does not have. With one of them missing, a gateway's socket would be one for all.
    public func mistakes(_ accounts: any Accounts) -> [ConfigurationMistake] {
        var mistakes: [ConfigurationMistake] = []
        if let group, accounts.gid(ofGroup: group.value) == nil {
            mistakes.append(ConfigurationMistake("no group '\(group.value)' on this device", at: group.location))
        }
        if let user, accounts.uid(ofUser: user.value) == nil {
            mistakes.append(ConfigurationMistake("no user '\(user.value)' on this device", at: user.location))
        }
        return mistakes
    }
}
