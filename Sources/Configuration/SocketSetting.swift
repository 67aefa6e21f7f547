package import QuickConnect

/// A socket with a list of commands of its own: an entry of `sockets`.
package struct SocketSetting: Sendable {
    /// Where it is.
    package enum Place: Sendable, Hashable {
        /// The daemon makes it.
        case path(String)
        /// systemd makes it: FileDescriptorName= of its socket unit.
        case systemd(String)

        /// Its name in messages.
        package var name: String {
            switch self {
            case .path(let path): path
            case .systemd(let name): name
            }
        }

        /// Names are compared by their bytes, as by the system.
        package static func == (one: Place, other: Place) -> Bool {
            switch (one, other) {
            case (.path(let one), .path(let other)), (.systemd(let one), .systemd(let other)):
                one.utf8.elementsEqual(other.utf8)
            default: false
            }
        }
    }

    /// systemd's names for the daemon's own socket: that of its unit, or those used if nothing names it.
    package static let ownNames = ["quickconnectd.socket", "unknown", ""]

    package var place: Place
    package var commands: [Located<String>]
    /// How many connections it takes at once, apart from those of other sockets.
    package var connections = 64
    /// The permissions of its file, if the daemon makes it.
    package var mode: UInt32 = 0o660
    package var group: Located<String>?
    /// Its gateway, and the user as which the gateway runs; both or neither.
    package var gateway: Located<String>?
    package var user: Located<String>?
    package var location: SourceLocation

    /// - Parameter accounts: looks up the gateway's user.
    package func rule(_ accounts: any Accounts) -> SocketRule {
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

    /// Whether another setting makes the same socket, whatever its list.
    func makesSame(as other: SocketSetting) -> Bool {
        place == other.place && connections == other.connections && mode == other.mode
            && group?.value == other.group?.value && gateway?.value == other.gateway?.value
            && user?.value == other.user?.value
    }

    /// Unknown users and groups. If one were ignored, a gateway's socket would be open to everybody.
    package func mistakes(_ accounts: any Accounts) -> [ConfigurationMistake] {
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
