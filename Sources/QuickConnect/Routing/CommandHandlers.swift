/// The handlers that are commands by themselves, as the router asks for them.
public protocol CommandHandlers: Sendable {
    /// The entry of a handler that is a command by itself; nil where it is none.
    func entry(of command: String, in table: MappingTable) -> MappingEntry?

    /// At most three of their names that somebody may have meant.
    func nearest(_ command: String) -> [String]

    /// Their names, sorted.
    var commandNames: [String] { get }
}
