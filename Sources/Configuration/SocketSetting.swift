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
    public var location: SourceLocation

    public var rule: SocketRule {
        SocketRule(name: place.name, commands: commands.map(\.value), connections: connections, location: location)
    }
}
