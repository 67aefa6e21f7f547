public import JSON
import Synchronization

/// The commands that are allowed on a socket with its own list, such as a socket for guests. All connections of the socket
/// have the same one, so that a new list holds from their next call.
///
/// It applies to everybody who connects there, root included: the uid of a gateway's connection does not tell who is
/// behind it.
public final class SocketRule: Sendable {
    /// The socket's name in messages: its path, or its name in systemd.
    public let name: String
    /// How many connections it takes at once. They do not count for other sockets, so they cannot lock out anybody
    /// there.
    public let connections: Int
    /// The gateway that the socket belongs to, if its callers are not the processes that connect.
    public let gateway: Gateway?
    private let list: Mutex<List>

    private struct List {
        /// Compared by their bytes.
        var commands: Set<ByteName>
        var location: SourceLocation

        init(_ commands: some Sequence<String>, _ location: SourceLocation) {
            self.commands = Set(commands.map { ByteName($0) })
            self.location = location
        }
    }

    /// The allowed commands.
    public var commands: Set<ByteName> { list.withLock { $0.commands } }
    /// Where the list is written.
    public var location: SourceLocation { list.withLock { $0.location } }

    /// A program that vouches for its own users: pages in a browser, clients of a broker.
    public struct Gateway: Sendable, Hashable {
        /// The prefix of its users' names in rules: `web` in `web:ann`.
        public var name: String
        /// The user that it runs as; nobody else may connect.
        public var uid: UInt32

        /// A gateway's name in rules, and the uid that may connect as it.
        public init(name: String, uid: UInt32) {
            self.name = name
            self.uid = uid
        }
    }

    /// The rule of a socket.
    public init(
        name: String,
        commands: some Sequence<String>,
        connections: Int,
        gateway: Gateway? = nil,
        location: SourceLocation
    ) {
        self.gateway = gateway
        self.name = name
        self.connections = connections
        list = Mutex(List(commands, location))
    }

    /// Replaces the list. ``Router/replaceTable(_:)`` then checks subscriptions and handlers again.
    public func replaceList(_ commands: some Sequence<String>, at location: SourceLocation) {
        let new = List(commands, location)
        list.withLock { $0 = new }
    }

    /// The first call on a gateway's connection. It is allowed even if the list does not name it.
    public static let actFor = "actFor"
    /// What a gateway's connection is told, if `actFor` has asked for it, when the first thing is leased to its user, and
    /// when nothing is any more.
    public static func leaseLine(_ isLeased: Bool) -> String { "{\"lease\":\(isLeased)}" }

    /// What a program is told that has connected to a gateway's socket.
    static let ownSocket =
        "other programs connect to the daemon's own socket, which quickconnect finds without --socket"

    /// `denied` if a process other than the gateway connects.
    public func refusal(ofConnectionBy caller: Caller) -> CommandError? {
        guard let gateway, caller.uid != gateway.uid else { return nil }
        return CommandError(
            .denied,
            "the socket \(name) is the gateway \(gateway.name)'s (\(location)); \(Self.ownSocket)"
        )
    }

    /// Whether its clients may call a command, or hear its event. On a gateway's list are also the entries that name one
    /// of its users or groups themselves.
    /// - Parameter gateways: those that the command's entry names; nil if it has none.
    public func lists(_ command: String, for gateways: Set<ByteName>?) -> Bool {
        let name = ByteName(command)
        if list.withLock({ $0.commands.contains(name) }) { return true }
        guard let gateway else { return false }
        return gateways?.contains(ByteName(gateway.name)) ?? false
    }

    /// `denied`, because the list lacks the command, with the line that would allow it: the same whether there is such a
    /// command or not.
    func refusal(of command: String) -> CommandError {
        let line = NameList.whole((commands.map(\.text) + [command]).sorted(), bytes: 400).map { "commands: [\($0)]" }
        let remedy = line.map { "the line «\($0)» there" } ?? "«\(NameList.quoted(command))» added there"
        let entry = "; so would an entry of your own that names its users, once «quickconnect call reload» has read it"
        return denied(command, "\(remedy) would allow it\(gateway == nil ? "" : entry)", location, line)
    }

    /// - Parameters:
    ///   - remedy: the end of the sentence.
    ///   - place: where the line belongs.
    func denied(_ command: String, _ remedy: String, _ place: SourceLocation, _ line: String?) -> CommandError {
        let details = JSONObject(present: [
            "rule": .string("the commands of the socket \(name)"), "location": .string(place.description),
            "allow": line.map(JSONValue.string),
        ])
        let sentence = "\(command) is not among the commands of the socket \(name) (\(location)); \(remedy)"
        return CommandError(.denied, sentence, details: details)
    }
}
