package import JSON

/// The events of the daemon, including those whose device is missing. No client can post under their names.
public enum DaemonEvents {
    /// Tells a slow client how many values it missed.
    public static let dropped = "dropped"
    /// Tells which handlers are registered and removed, as `{"name", "registered"}`.
    public static let handlers = "handlers"
    /// Tells a client that nobody waits for its answer any more. Nobody can subscribe to this event.
    private static let cancel = "cancel"
    /// Tells that a reload has replaced the commands or the values.
    public static let commands = "commands"

    /// A caller that may call one of these commands may subscribe to the event.
    private static let commandsOfEvents: [String: [String]] = [
        "playState": ["play"], "recState": ["rec"], "location": ["loc", "location"], "volumeState": ["volume"],
        "accel": ["accel"], "nearby": ["nearby"],
    ]

    /// The events of the daemon itself, which every device has.
    static let own = [dropped, handlers, commands]

    /// The data of ``dropped``: `{"event", "count"}`.
    package static func loss(of event: String, _ count: Int) -> JSONValue {
        ["event": .string(event), "count": .integer(Int64(count))]
    }

    /// The names of all events of the daemon, which nobody else may post.
    public static let names = Array(commandsOfEvents.keys) + own

    private static let table = NameTable(
        (names + [cancel, CommandError.replyCommand]).map { (name: $0, element: true) }
    )

    /// Whether a name belongs to one of these events, or to another message of the daemon.
    public static func isOne(_ name: UnsafeBufferPointer<UInt8>) -> Bool { table.index(of: name) != nil }

    /// The commands whose rules apply to an event: those listed for a device's event, otherwise the one with the
    /// event's name.
    public static func commands(of event: String) -> [String] { commandsOfEvents[event] ?? [event] }

    /// Whether it is a device's event, which needs a command that allows it.
    static func needsCommand(_ event: String) -> Bool { commandsOfEvents[event] != nil }
}
