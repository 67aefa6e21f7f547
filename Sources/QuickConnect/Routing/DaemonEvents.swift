/// The events that are the daemon's own, whether this one has them or not: no client can post under their names.
public enum DaemonEvents {
    /// Tells a slow client how many values it missed.
    public static let dropped = "dropped"
    /// Tells which handlers come and go, as `{"name", "registered"}`.
    public static let handlers = "handlers"
    /// Tells a client that nobody waits for its answer any more: no event that anybody could subscribe to.
    private static let cancel = "cancel"
    /// Tells that a reload has put other commands, or values, in place.
    public static let commands = "commands"

    /// Who may call one of these commands may subscribe to the event.
    private static let commandsOfEvents: [String: [String]] = [
        "playState": ["play"], "recState": ["rec"], "location": ["loc", "location"], "volumeState": ["volume"],
        "accel": ["accel"], "nearby": ["nearby"],
    ]

    /// Those of the daemon itself, which every device has.
    static let own = [dropped, handlers, commands]

    /// The names of all events of the daemon's own, which nobody else may post.
    public static let names = Array(commandsOfEvents.keys) + own

    private static let table = NameTable(
        (names + [cancel, CommandError.replyCommand]).map { (name: $0, element: true) }
    )

    /// Whether a name is one of theirs, or of another message of the daemon's.
    public static func isOne(_ name: UnsafeBufferPointer<UInt8>) -> Bool { table.index(of: name) != nil }

    /// The commands whose rules an event obeys: those of a device's event, else the one of its own name.
    public static func commands(of event: String) -> [String] { commandsOfEvents[event] ?? [event] }

    /// Whether an event is one of a device, so that there must be a command which allows it.
    static func needsCommand(_ event: String) -> Bool { commandsOfEvents[event] != nil }
}
