/// The handlers that are commands of their own, for the router.
public protocol CommandHandlers: Sendable {
    /// The entry of a handler that is a command of its own; nil if it is not one.
    func entry(of command: String, in table: MappingTable) -> MappingEntry?

    /// Whether a client answers for that name, as a command or for mappings.
    func has(_ name: String) -> Bool

    /// At most three of their names that are similar.
    func nearest(_ command: String) -> [String]

    /// Their names, sorted.
    var commandNames: [String] { get }
}
