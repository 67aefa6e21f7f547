public import JSON

/// What may be asked on a socket that has a list of commands of its own, such as one for guests.
///
/// It holds for everybody who connects there, root too: who stands behind a gateway's connection is not known from
/// its uid.
public struct SocketRule: Sendable, Hashable {
    /// What the socket is called in messages: its path, or the name that systemd knows it by.
    public var name: String
    public var commands: Set<ByteName>
    /// How many connections it takes at once. They do not count for other sockets: nobody there is locked out.
    public var connections: Int
    /// Where the list is written.
    public var location: SourceLocation

    public init(name: String, commands: some Sequence<String>, connections: Int, location: SourceLocation) {
        self.name = name
        self.connections = connections
        self.commands = Set(commands.map { ByteName($0) })
        self.location = location
    }

    /// `denied`, where the command is not on the list.
    func refusal(of command: String) -> CommandError? {
        guard !commands.contains(ByteName(command)) else { return nil }
        let command = command.shortened
        let line = "commands: [\((commands.map(\.text) + [command]).sorted().joined(separator: ", "))]"
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
