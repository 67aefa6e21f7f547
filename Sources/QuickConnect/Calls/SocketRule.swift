public import JSON

/// What may be asked on a socket that has a list of commands of its own, such as one for guests.
///
/// It holds for everybody who connects there, root too: who stands behind a gateway's connection is not known from
/// its uid.
public struct SocketRule: Sendable, Hashable {
    /// What the socket is called in messages: its path, or the name that systemd knows it by.
    public var name: String
    /// The commands that can be called there; compared by their bytes.
    public var commands: Set<ByteName>
    /// How many connections it takes at once. They do not count for other sockets: nobody there is locked out.
    public var connections: Int
    /// Whose socket it is, where the callers behind it are not those who connect.
    public var gateway: Gateway?
    /// Where the list is written.
    public var location: SourceLocation

    /// A program that vouches for users of its own: pages of a browser, clients of a broker.
    public struct Gateway: Sendable, Hashable {
        /// What its users' names begin with in rules: `web` of `web:ann`.
        public var name: String
        /// The user that it runs as; nobody else may connect.
        public var uid: UInt32

        /// A gateway's name in rules, and the uid that may connect as it.
        public init(name: String, uid: UInt32) {
            self.name = name
            self.uid = uid
        }
    }

    /// What holds for everybody who connects at a socket.
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
        self.commands = Set(commands.map { ByteName($0) })
        self.location = location
    }

    /// The first call on a gateway's connection, on its list without being named there.
    public static let actFor = "actFor"

    /// `denied`, where a process other than the gateway connects.
    public func refusal(ofConnectionBy caller: Caller) -> CommandError? {
        guard let gateway, caller.uid != gateway.uid else { return nil }
        return CommandError(
            .denied,
            "the socket \(name) is the gateway \(gateway.name)'s (\(location)); use another one"
        )
    }

    /// `denied`, where the command is not on the list.
    func refusal(of command: String) -> CommandError? {
        guard !commands.contains(ByteName(command)), gateway == nil || command != Self.actFor else { return nil }
        let command = command.shortened
        let names = (commands.map(\.text) + [NameList.quoted(command)]).sorted()
        let line = "commands: [\(NameList.text(names, bytes: 400))]"
        return CommandError(
            .denied,
            """
            \(command) is not among the commands of the socket \(name) (\(location)); \
            the line «\(line)» there would allow it
            """,
            details: [
                "rule": .string("the commands of the socket \(name)"), "location": .string(location.description),
                "allow": .string(line),
            ]
        )
    }
}
