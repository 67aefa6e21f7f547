/// How a gateway is set up.
public struct WebOptions: Sendable {
    /// Where browsers come in.
    public enum Listener: Sendable, Hashable {
        case tcp(host: String, port: Int)
        /// For a reverse proxy on this device.
        case unix(path: String)
        /// A socket that systemd has made.
        case passed(descriptor: Int32)
    }

    /// Where it listens.
    public var listeners: [Listener] = []
    /// Where people are sent by `quickconnect web open`; nil: where it listens.
    public var address: String?
    /// The daemon's ordinary socket, for the handler `web`: the paths to try.
    public var daemonPaths: [String] = []
    /// The gateway's socket of the daemon.
    public var bridgePath = "/run/quickconnect/web.sock"
    /// The folders of pages, the one in front first.
    public var pages: [String] = []
    /// Where users and sessions are kept.
    public var state = ""
    /// Where Debian's packages put JavaScript libraries.
    public var libraries = "/usr/share/javascript"
    /// What this host is called in browsers, besides localhost and its addresses. In lower case.
    public var names: Set<String> = []
    /// Whether pages may have scripts and styles in their own text.
    public var allowsInline = false
    /// The address of a map's tiles, with {z}, {x} and {y}.
    public var tiles: String?
    /// How long a log-in lasts.
    public var sessionTime = Duration.seconds(30 * 86_400)
    /// Connections of browsers at once.
    public var connections = 2048
    /// Whether pages are told when their files change.
    public var watches = false

    /// The options of a gateway whose settings say nothing.
    public init() {}

    /// Where the tiles come from, for the Content-Security-Policy.
    var tileOrigin: String? {
        guard let tiles, let scheme = tiles.split(separator: "/").first, scheme == "https:" || scheme == "http:" else {
            return nil
        }
        let host = tiles.dropFirst(scheme.count + 2).prefix { $0 != "/" }
        return "\(scheme)//\(host)".replacing("{s}", with: "*")
    }
}
