internal import QuickConnect

/// The configuration of a gateway.
package struct WebOptions: Sendable {
    /// Where browsers connect.
    package enum Listener: Sendable, Hashable {
        case tcp(host: String, port: Int)
        /// For a reverse proxy on this device.
        case unix(path: String)
        /// A socket that systemd has made.
        case passed(descriptor: Int32)
    }

    /// Where it listens.
    package var listeners: [Listener] = []
    /// The address that `quickconnect web open` prints; nil: the one where it listens.
    package var address: String?
    /// The daemon's ordinary socket, for the handler `web`: the paths to try.
    package var daemonPaths: [String] = []
    /// The daemon's socket for this gateway.
    package var bridgePath = "/run/quickconnect/web.sock"
    /// The folders of pages; earlier ones take precedence.
    package var pages: [String] = []
    /// The folder where users and sessions are stored.
    package var state = ""
    /// Where Debian's packages put JavaScript libraries.
    package var libraries = "/usr/share/javascript"
    /// Further names of this host in browsers, apart from localhost and its addresses. In lower case.
    package var names: Set<String> = []
    /// Whether pages may contain inline scripts and styles.
    package var allowsInline = false
    /// The address of map tiles, with {z}, {x} and {y}.
    package var tiles: String?
    /// How long a log-in lasts.
    package var sessionTime = Duration.seconds(30 * 86_400)
    /// Connections of browsers at the same time.
    package var connections = 2048
    /// How many connections the daemon takes on the gateway's socket: one for each page and each program that calls.
    package var daemonConnections = 64
    /// The longest line that the daemon takes.
    package var lineBytes = Limits().lineBytes
    /// Whether pages are notified when their files change.
    package var watches = false
    /// Whether pages show what the device refuses them: for their author, not for visitors.
    package var showsRefusals = false

    /// The default options.
    package init() {}

    /// The origin of the tiles, for the Content-Security-Policy.
    var tileOrigin: String? {
        guard let tiles, let scheme = tiles.split(separator: "/").first, scheme == "https:" || scheme == "http:" else {
            return nil
        }
        let host = tiles.dropFirst(scheme.count + 2).prefix { $0 != "/" }
        return "\(scheme)//\(host)".replacing("{s}", with: "*")
    }
}
